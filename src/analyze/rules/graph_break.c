/* graph_break.c: a compiled function is cut into pieces: between two compiled regions of a step
 * some operators run eagerly, a value is looked at, guards are checked, and the next region is
 * entered again.
 *
 *     region          [ prologue l l l ]   eager l l sync   lookup   [ prologue l l l ]
 *     what one graph would not do     |--------------------------------------|
 *
 * The price is a replay without what lies between the last launch of a region and the first of the
 * next. Where eager code does much by itself it is the program's, and no break. */
#include "analyze/rules/rule.h"
#include "base/human.h"

/* More launches than this between two regions are a part of the program. */
#define MOST_LAUNCHES 16
/* Share of all device work that may lie between regions. */
#define MOST_WORK 0.4

struct breaks {
    struct sim_cut *spans;
    uint32_t n, cap;
    uint32_t launches, waits;
    int64_t cpu_ns, work_ns, idle_ns;
    row_t first;      /* eager call of the longest break: one that waits, else the first launch */
    int64_t first_ns; /* how long that break is */
    uint32_t n_steps, last_step;
};

static bool is_region(const struct trace *t, row_t r)
{
    struct str name = trace_name(t, r);
    return (t->kind[r] == KIND_OP && str_starts(name, "Torch-Compiled Region")) ||
           (t->kind[r] == KIND_ANNOTATION && str_starts(name, "## Call CompiledFxGraph"));
}

static bool is_outermost_region(const struct trace *t, row_t r)
{
    if (!is_region(t, r)) return false;
    for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up])
        if (is_region(t, up)) return false;
    return true;
}

/* One break: what the thread calls between two regions. */
struct one_break {
    struct span free; /* from the last call of the one to the first of the other */
    uint32_t launches, waits;
    int64_t work_ns;
    row_t first;
};

static void count_call(const struct sim_model *m, const struct sim_call *c, struct one_break *g)
{
    bool waits = c->wait != SIM_WAIT_NOTHING;
    if (g->first == ROW_NONE || (waits && !g->waits)) g->first = c->row;
    g->waits += waits;
    g->launches += c->n_work > 0;
    for (uint32_t i = 0; i < c->n_work; i++) {
        const struct sim_work *w = &m->works[m->works_by_call[c->first_work + i]];
        g->work_ns += w->end_ns - w->begin_ns;
    }
}

static struct one_break look_between(const struct context *cx, uint32_t thread, row_t a, row_t b)
{
    const struct trace *t = cx->t;
    const struct sim_model *m = model_of(cx);
    struct one_break g = {.free = {t->ts_ns[a], t->ts_ns[b]}, .first = ROW_NONE};
    for (uint32_t c = sim_call_at(m, t->ts_ns[a]); c < m->n_calls; c++) {
        const struct sim_call *call = &m->calls[c];
        if (call->begin_ns >= trace_end_ns(t, b)) break;
        if (call->thread != thread) continue;
        if (call->begin_ns >= t->ts_ns[b]) {
            g.free.end_ns = call->begin_ns;
            break;
        }
        if (call->begin_ns < trace_end_ns(t, a)) g.free.begin_ns = call->end_ns;
        else count_call(m, call, &g);
    }
    return g;
}

static int64_t idle_in(const struct context *cx, struct span s)
{
    int64_t sum = 0;
    for (uint32_t d = 0; d < timeline_of(cx)->n_devices; d++) {
        const struct device_line *line = &timeline_of(cx)->devices[d];
        struct span both = span_both(s, line->extent);
        if (both.begin_ns < both.end_ns) sum += timeline_idle_ns(line, both.begin_ns, both.end_ns);
    }
    return sum;
}

static void add(const struct context *cx, struct breaks *b, uint32_t thread,
                const struct one_break *g)
{
    uint32_t step = steps_at(steps_of(cx), g->free.begin_ns);
    b->spans[b->n++] =
        (struct sim_cut){.thread = thread, .begin_ns = g->free.begin_ns, .end_ns = g->free.end_ns};
    b->launches += g->launches;
    b->waits += g->waits;
    b->cpu_ns += span_ns(g->free);
    b->work_ns += g->work_ns;
    b->idle_ns += idle_in(cx, g->free);
    b->n_steps += step != b->last_step;
    b->last_step = step;
    if (span_ns(g->free) <= b->first_ns) return;
    b->first = g->first;
    b->first_ns = span_ns(g->free);
}

/* The breaks of one thread. */
static void look_at(const struct context *cx, uint32_t thread, struct breaks *b)
{
    const struct trace *t = cx->t;
    const struct lane *lane = &t->lanes[model_of(cx)->threads[thread].lane];
    row_t last = ROW_NONE;
    for (row_t r = lane->begin; r < lane->end; r++) {
        if (!is_outermost_region(t, r)) continue;
        row_t before = last;
        last = r;
        if (before == ROW_NONE || trace_end_ns(t, before) > t->ts_ns[r]) continue;
        uint32_t step = steps_at(steps_of(cx), t->ts_ns[r]);
        if (step == UINT32_MAX || step != steps_at(steps_of(cx), t->ts_ns[before])) continue;
        struct one_break g = look_between(cx, thread, before, r);
        if (g.launches + g.waits && g.launches <= MOST_LAUNCHES && b->n < b->cap)
            add(cx, b, thread, &g);
    }
}

static uint32_t count_regions(const struct trace *t)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += is_region(t, r);
    return n;
}

static bool is_finding(const struct context *cx, const struct breaks *b)
{
    int64_t work = 0;
    for (uint32_t w = 0; w < model_of(cx)->n_works; w++)
        work += model_of(cx)->works[w].end_ns - model_of(cx)->works[w].begin_ns;
    double least = (double)wall_of(cx)->wall_ns * cx->th.value[TH_REPORT_GAIN_PCT] / 200;
    return b->n >= 2 && b->n_steps * 2 > steps_of(cx)->n_steps && (double)b->idle_ns >= least &&
           (double)b->work_ns <= MOST_WORK * (double)work;
}

static int report(const struct context *cx, const struct breaks *b, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct breaks b = {.first = ROW_NONE, .last_step = UINT32_MAX};
    if (steps_of(cx)->n_steps < 2) return 0;
    b.cap = count_regions(cx->t);
    b.spans = arena_alloc(cx->mem, (b.cap + (size_t)1) * sizeof *b.spans);
    if (!b.spans) return err_nomem(e);
    for (uint32_t i = 0; b.cap && i < model_of(cx)->n_threads; i++) look_at(cx, i, &b);
    return is_finding(cx, &b) ? report(cx, &b, out, e) : 0;
}

const struct rule rule_graph_break = {
    .id = "graph_break",
    .summary = "graph breaks split compiled code",
    .run = run,
};

static int report(const struct context *cx, const struct breaks *b, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_graph_break, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    source_places_find(places_of(cx), b->first, &p);
    rule_place(cx, f, &p);
    uint32_t steps = steps_of(cx)->n_steps;
    f->title = "graph breaks split compiled code";
    f->why = rule_text(cx,
                       "Compiled code stops %.1f times per step for a few eager operators%s "
                       "and is entered again, which takes %s in total; the GPU is idle for %s of "
                       "that time.",
                       (double)b->n / steps, b->waits ? " and to read a value" : "",
                       human_time(b->cpu_ns).s, human_time(b->idle_ns).s);
    f->fix = b->waits
                 ? "Do not read values of tensors (.item(), print, if on a tensor) in compiled "
                   "code; fullgraph=True makes every graph break an error that names its line."
                 : "Find the graph breaks (TORCH_LOGS=graph_breaks, or fullgraph=True to make "
                   "them errors) and move what cannot be compiled out of the function.";
    f->not_fixed = "The compiled kernels do not get faster.";
    f->show = "gaps %s";
    f->blocked_ns = b->cpu_ns;
    f->exposed_ns = b->idle_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[b->first], b->first,
                 "the longest break takes %s; this is what interrupts it",
                 human_time(b->first_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "%u breaks with %u launches and %u waits in %u steps", b->n, b->launches, b->waits,
                 steps);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = b->spans, .n_spans = b->n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
