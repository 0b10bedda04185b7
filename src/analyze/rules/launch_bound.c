/* launch_bound.c: kernels so short that the CPU cannot launch them fast enough, in a stage or in
 * the whole body of the loop. What helps is launching less: one call for many kernels (a graph),
 * fewer kernels (a compiler), or more work in each (a larger batch). */
#include "analyze/device/queue.h"
#include "analyze/rules/launch_units.h"
#include "base/human.h"

/* Work at once that a larger batch is priced for. */
#define BATCH_TIMES 2
/* Above this share of compiled work there is nothing left to compile. */
#define MOSTLY_COMPILED 0.5

static int report_unit(const struct context *cx, const struct launch_unit *u, struct findings *out,
                       struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct launch_units units;
    TRY(launch_units_find(cx, &units, e));
    for (uint32_t i = 0; i < units.n; i++) TRY(report_unit(cx, &units.list[i], out, e));
    return 0;
}

const struct rule rule_launch_bound = {
    .id = "launch_bound",
    .summary = "many small kernels that the CPU cannot launch fast enough",
    .run = run,
};

/* Whether torch runs the program, from its operators or its kernels: then there is a compiler to
 * ask. */
static bool is_torch(const struct trace *t)
{
    for (str_id id = 0; id < t->strings.n; id++) {
        struct str s = trace_str(t, id);
        if (str_starts(s, "aten::") || str_has(s, "at::native::") || str_has(s, "N2at6native"))
            return true;
    }
    return false;
}

/* Whether the launch is made by generate() of transformers. Its cache grows with every token, and a
 * CUDA graph needs addresses that stay: generate() has an option for that. */
static bool is_generate(const struct trace *t, row_t launch)
{
    for (row_t r = launch; r != ROW_NONE; r = t->parent[r])
        if (t->kind[r] == KIND_PYTHON &&
            str_has(trace_name(t, r), "transformers/generation/utils.py"))
            return true;
    return false;
}

static const char *fix(const struct context *cx, const struct launch_unit *u, row_t launch)
{
    const char *where = u->stage ? "the stage" : "the loop body";
    const char *pieces =
        u->syncs ? rule_text(cx, "the code between the syncs of %s", where) : where;
    if (!is_torch(cx->t))
        return rule_text(cx,
                         "Launch less: capture %s as a CUDA graph and launch that, give each "
                         "kernel more work (a larger batch), or fuse kernels.",
                         pieces);
    if (is_generate(cx->t, launch))
        return "Launch less: generate(cache_implementation=\"static\") compiles a step of decoding "
               "and replays it as a CUDA graph; or use a larger batch.";
    return rule_text(cx,
                     "Launch less: use a CUDA graph around %s, by hand or with "
                     "torch.compile(mode=\"reduce-overhead\"), a larger batch, or fused operators.",
                     pieces);
}

static void add_option(struct finding *f, struct finding_option o)
{
    if (f->n_options < FINDING_OPTIONS) f->options[f->n_options++] = o;
}

static void add_options(const struct context *cx, const struct launch_unit *u, struct finding *f)
{
    bool compiled = (double)u->works_compiled > MOSTLY_COMPILED * (double)u->works;
    add_option(f,
               (struct finding_option){
                   .name = "cuda_graph",
                   .what = "CUDA graphs",
                   .note = u->syncs ? "one launch for everything between two waits; shapes and "
                                      "addresses must stay the same"
                                    : "one launch for all; shapes and addresses must stay the same",
                   .effort = EFFORT_LOCAL,
                   .edit = f->edits[0]});
    if (is_torch(cx->t) && !compiled)
        add_option(f,
                   (struct finding_option){
                       .name = "compile",
                       .what = "torch.compile",
                       .note = "fewer launches: elementwise kernels and norms are fused",
                       .effort = EFFORT_ONE_LINE,
                       .edit = {.kind = EDIT_COMPILE, .spans = u->spans, .n_spans = u->n_spans}});
    add_option(f, (struct finding_option){
                      .name = "larger_batch",
                      .what = "twice the batch",
                      .note = "per sample: more work per launch; latency stays the same",
                      .effort = EFFORT_ONE_LINE,
                      .edit = {.kind = EDIT_SCALE_KERNEL, .pattern = ".", .factor = BATCH_TIMES},
                      .times = BATCH_TIMES});
}

/* A launch from the middle of the unit, to look at; ROW_NONE when there is none. */
static row_t example(const struct context *cx, const struct launch_unit *u)
{
    const struct sim_model *m = model_of(cx);
    if (!u->n_spans) return ROW_NONE;
    const struct sim_cut *s = &u->spans[u->n_spans / 2];
    int64_t middle = s->begin_ns + (s->end_ns - s->begin_ns) / 2;
    for (uint32_t c = sim_call_at(m, middle); c < m->n_calls; c++) {
        if (m->calls[c].begin_ns >= s->end_ns) break;
        if (m->calls[c].thread == s->thread && m->calls[c].n_work == 1) return m->calls[c].row;
    }
    return ROW_NONE;
}

/* The outermost function of the program's own that begins inside the step: its body. */
static void place_loop(const struct context *cx, const struct launch_unit *u, row_t launch,
                       struct finding *f)
{
    const char *subject = f->subject;
    int64_t begin = u->spans[u->n_spans / 2].begin_ns;
    row_t body = ROW_NONE;
    for (row_t r = launch; r != ROW_NONE && cx->t->ts_ns[r] >= begin; r = cx->t->parent[r])
        if (cx->t->kind[r] == KIND_PYTHON && source_places_class(places_of(cx), r) == FRAME_USER)
            body = r;
    if (body == ROW_NONE) return;
    struct place p;
    source_places_find(places_of(cx), body, &p);
    rule_place(cx, f, &p);
    f->subject = subject;
}

static void show_example(const struct context *cx, row_t launch, struct finding *f)
{
    uint32_t n = 0;
    const row_t *work = trace_launched(cx->t, launch, &n);
    if (n)
        finding_note(f, cx->mem, cx->t->ts_ns[launch], launch, "one of them launches %s, %s long",
                     rule_name(cx, trace_name(cx->t, work[0]), 60),
                     human_time(cx->t->dur_ns[work[0]]).s);
}

static void explain(const struct context *cx, const struct launch_unit *u, struct finding *f)
{
    int64_t mean = u->work_ns / u->works;
    f->why = rule_text(
        cx,
        "It makes %u launches per %s, one every %s, but the work they start takes only %s on "
        "average: most of the time the GPU waits for the next launch.",
        u->launches / u->calls, u->stage ? "call" : "step", human_time(launch_unit_interval(u)).s,
        human_time(mean).s);
    finding_note(f, cx->mem, u->n_spans ? u->spans[0].begin_ns : ID_NONE, ROW_NONE,
                 "%s: %u %s, %u launches, %s of CPU time, %s of GPU work", f->subject, u->calls,
                 u->stage ? "calls" : "steps", u->launches, human_time(u->cpu_ns).s,
                 human_time(u->work_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE, "the GPU is idle for %s while the CPU runs it",
                 human_time(u->idle_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "the queue is never deeper than %u: the CPU does not run ahead",
                 queues_deepest(queues_of(cx)));
}

/* "LlamaForCausalLM, 451 launches per step": what is repeated, where that is one thing. Labels in a
 * row, of which the step has the name of the first, are not. */
static const char *loop_subject(const struct context *cx, const struct launch_unit *u)
{
    const struct steps *s = steps_of(cx);
    const struct loop_level *l = s->level < s->n_levels ? &s->levels[s->level] : NULL;
    struct str name = l && !origin_is_label(l->from) ? l->name : str_c("");
    return rule_text(cx, "%s%s%u launches per step", rule_name(cx, name, 50), name.n ? ", " : "",
                     u->launches / u->calls);
}

static int report_unit(const struct context *cx, const struct launch_unit *u, struct findings *out,
                       struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_launch_bound, e);
    if (!f) return ERR_NOMEM;
    struct str stage = u->stage ? u->stage->name : str_c("");
    f->title = u->stage ? "launch-bound stage" : "launch-bound loop";
    f->subject = u->stage ? rule_name(cx, stage, 80) : loop_subject(cx, u);
    row_t launch = example(cx, u);
    f->fix = fix(cx, u, launch);
    f->not_fixed = "The kernels themselves do not get faster; a CUDA graph needs the same shapes "
                   "and addresses in "
                   "every call.";
    f->show = "launches %s";
    f->blocked_ns = u->cpu_ns;
    f->exposed_ns = u->idle_ns;
    f->edits[f->n_edits++] =
        u->stage
            ? (struct sim_edit){.kind = EDIT_CUDA_GRAPH, .pattern = rule_exactly(cx, stage)}
            : (struct sim_edit){.kind = EDIT_CUDA_GRAPH, .spans = u->spans, .n_spans = u->n_spans};
    f->effort = EFFORT_LOCAL;
    add_options(cx, u, f);
    explain(cx, u, f);
    if (launch != ROW_NONE) show_example(cx, launch, f);
    if (launch != ROW_NONE && !u->stage) place_loop(cx, u, launch, f);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
