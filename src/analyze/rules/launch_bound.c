/* launch_bound.c: kernels so short that the CPU cannot launch them fast enough, in a stage or in
 * the whole body of the loop. What helps is launching less: one call for many kernels (a graph),
 * fewer kernels (a compiler), or more work in each (a larger batch). */
#include "analyze/device/queue.h"
#include "analyze/findings/host_side.h"
#include "analyze/names/program.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* The units, and items that the program works on one by one in them. */
struct launch_bound {
    const struct context *cx;
    struct joined_items joined;
};

static int report_unit(const struct launch_bound *b, const struct launch_unit *u,
                       struct findings *out, struct err *e);

static int launch_bound_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct launch_units units;
    struct launch_bound b = {.cx = cx};
    TRY(launch_units_find(cx, &units, e));
    if (units.n == 1) TRY(joined_items_find(cx, &b.joined, e));
    for (uint32_t i = 0; i < units.n; i++) TRY(report_unit(&b, &units.list[i], out, e));
    return 0;
}

const struct rule rule_launch_bound = {
    .id = "launch_bound",
    .summary = "many small kernels that the CPU cannot launch fast enough",
    .limit = LIMIT_LAUNCH,
    .tries = "compile:%s:reduce-overhead",
    .run = launch_bound_run,
};

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

static const char *launch_bound_fix(const struct context *cx, const struct launch_unit *u,
                                    row_t launch)
{
    const char *where = u->stage ? "the stage" : "the loop body";
    const char *pieces =
        u->syncs ? rule_text(cx, "the code between two syncs of %s", where) : where;
    if (!program_is_torch(cx->t))
        return rule_text(cx,
                         "Launch less: capture %s as a CUDA graph and launch that, give each "
                         "kernel more work (a larger batch), or fuse kernels.",
                         pieces);
    if (is_generate(cx->t, launch))
        return "Launch less: generate(cache_implementation=\"static\") compiles a step of decoding "
               "and replays it as a CUDA graph; or use a larger batch.";
    return rule_text(
        cx,
        "Launch less: a CUDA graph around %s (by hand, or "
        "torch.compile(mode=\"reduce-overhead\")), a larger batch, or fused operators.",
        pieces);
}

static void launch_bound_add_option(struct finding *f, struct finding_option o)
{
    if (f->n_options < FINDING_OPTIONS) f->options[f->n_options++] = o;
}

/* More work in each launch: items that are worked on one by one, or twice as many. */
static void launch_bound_add_batch(const struct launch_bound *b, struct finding *f)
{
    if (b->joined.items) {
        launch_bound_add_option(
            f, (struct finding_option){
                   .name = "one_batch",
                   .what = rule_text(b->cx, "one batch of %u", b->joined.items),
                   .note = "if no item needs the result of another: today they run one by one, and "
                           "aten::cat or aten::stack joins what comes out",
                   .effort = EFFORT_LOCAL,
                   .edit = b->joined.edits[0],
                   .also = b->joined.edits[1],
                   .no_headline = true});
        return;
    }
    launch_bound_add_option(
        f,
        (struct finding_option){
            .name = "larger_batch",
            .what = "twice the batch",
            .note = "per sample: more work per launch; latency stays the same",
            .effort = EFFORT_ONE_LINE,
            .edit = {.kind = EDIT_SCALE_KERNEL, .pattern = ".", .factor = launch_bound_batch_times},
            .times = launch_bound_batch_times});
}

static void launch_bound_add_options(const struct launch_bound *b, const struct launch_unit *u,
                                     struct finding *f)
{
    const struct context *cx = b->cx;
    bool compiled = (double)u->works_compiled > launch_bound_compiled_share * (double)u->works;
    launch_bound_add_option(
        f, (struct finding_option){
               .name = "cuda_graph",
               .what = "CUDA graphs",
               .note = u->syncs ? "one launch for everything between two waits; shapes and "
                                  "addresses must stay the same"
                                : "one launch for all; shapes and addresses must stay the same",
               .effort = EFFORT_LOCAL,
               .edit = f->edits[0]});
    if (program_is_torch(cx->t) && !compiled)
        launch_bound_add_option(
            f, (struct finding_option){
                   .name = "compile",
                   .what = "torch.compile",
                   .note = "fewer launches: elementwise kernels and norms are fused",
                   .effort = EFFORT_ONE_LINE,
                   .edit = {.kind = EDIT_COMPILE, .spans = u->spans, .n_spans = u->n_spans}});
    launch_bound_add_batch(b, f);
}

/* A launch from the middle of the unit, to look at; ROW_NONE when there is none. */
static row_t launch_bound_example(const struct context *cx, const struct launch_unit *u)
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
                     rule_row_name(cx, work[0], 60), human_time(cx->t->dur_ns[work[0]]).s);
}

/* Mean time from one launch to the next without the profiler, which all other times of an answer
 * are without, too: as much shorter as the whole run is. */
static int64_t launch_bound_interval(const struct context *cx, const struct launch_unit *u)
{
    const struct undistort *d = undistort_of(cx);
    double share = d->traced_ns > 0 ? (double)d->plain_ns / (double)d->traced_ns : 1;
    return (int64_t)((double)launch_unit_interval(u) * (share < 1 ? share : 1));
}

static const char *launch_bound_why(const struct context *cx, const struct launch_unit *u)
{
    int64_t mean = u->work_ns / u->works, interval = launch_bound_interval(cx, u);
    const char *unit = u->stage ? "call" : "step", *who = u->stage ? "The stage" : "The loop";
    struct human launches = human_count(u->launches / u->calls), work = human_time(mean);
    if (mean >= interval)
        return rule_text(
            cx,
            "%s makes %s launches per %s, one every %s with the profiler, and the work they "
            "start takes %s on average: the GPU often waits for the next launch.",
            who, launches.s, unit, human_time(launch_unit_interval(u)).s, work.s);
    return rule_text(
        cx,
        "%s makes %s launches per %s, about one every %s, but the work they start takes only "
        "%s on average: the GPU %s for the next launch.",
        who, launches.s, unit, human_time(interval).s, work.s,
        2 * mean < interval ? "mostly waits" : "often waits");
}

static void launch_bound_explain(const struct context *cx, const struct launch_unit *u,
                                 struct finding *f)
{
    f->why = launch_bound_why(cx, u);
    finding_note(f, cx->mem, u->n_spans ? u->spans[0].begin_ns : ID_NONE, ROW_NONE,
                 "%s: %s %s, %s launches, %s of CPU time, %s of GPU work", f->subject,
                 human_count(u->calls).s, u->stage ? "calls" : "steps", human_count(u->launches).s,
                 human_time(u->cpu_ns).s, human_time(u->work_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE, "the GPU is idle for %s while the CPU runs it",
                 human_time(u->idle_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "the queue is never deeper than %s: the CPU does not run ahead",
                 human_count(queues_deepest(queues_of(cx))).s);
}

/* "LlamaForCausalLM, 451 launches per step": what is repeated, where that is one thing. Labels in a
 * row, of which the step has the name of the first, are not. */
static const char *loop_subject(const struct context *cx, const struct launch_unit *u)
{
    const struct steps *s = steps_of(cx);
    const struct loop_level *l = s->level < s->n_levels ? &s->levels[s->level] : NULL;
    struct str name = l && !origin_is_label(l->from) ? l->name : str_c("");
    return rule_text(cx, "%s%s%s launches per step", rule_name(cx, name, 50), name.n ? ", " : "",
                     human_count(u->launches / u->calls).s);
}

static int report_unit(const struct launch_bound *b, const struct launch_unit *u,
                       struct findings *out, struct err *e)
{
    const struct context *cx = b->cx;
    struct finding *f = rule_finding(cx, out, &rule_launch_bound, e);
    if (!f) return ERR_NOMEM;
    struct str stage = u->stage ? u->stage->name : str_c("");
    f->title = u->stage ? "launch-bound stage" : "launch-bound loop";
    f->subject = u->stage ? rule_name(cx, stage, 80) : loop_subject(cx, u);
    row_t launch = launch_bound_example(cx, u);
    f->fix = launch_bound_fix(cx, u, launch);
    f->not_fixed = "The kernels themselves do not get faster; a CUDA graph needs the same shapes "
                   "and addresses in every call.";
    f->show = "gaps %s --launches";
    f->blocked_ns = u->cpu_ns;
    f->exposed_ns = u->idle_ns;
    f->edits[f->n_edits++] =
        u->stage
            ? (struct sim_edit){.kind = EDIT_CUDA_GRAPH, .pattern = rule_exactly(cx, stage)}
            : (struct sim_edit){.kind = EDIT_CUDA_GRAPH, .spans = u->spans, .n_spans = u->n_spans};
    f->effort = EFFORT_LOCAL;
    launch_bound_add_options(b, u, f);
    launch_bound_explain(cx, u, f);
    if (launch != ROW_NONE) show_example(cx, launch, f);
    if (launch != ROW_NONE && !u->stage) place_loop(cx, u, launch, f);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
