/* graph_break.c: a compiled function is cut into pieces: between two compiled regions of a step
 * some operators run eagerly, a value is examined, guards are checked, and the next region is
 * entered again.
 *
 *     region          [ prologue l l l ]   eager l l sync   lookup   [ prologue l l l ]
 *     what one graph would not do     |--------------------------------------|
 *
 * The price is a replay without what lies between the last launch of a region and the first of the
 * next. Where eager code does much by itself it is the program's, and no break. */
#include <string.h>

#include "analyze/findings/host_side.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/vec.h"

struct breaks {
    struct sim_cut *spans;
    uint32_t n;
    size_t cap;
    uint32_t launches, waits;
    int64_t cpu_ns, work_ns, idle_ns;
    row_t first;      /* eager call of the longest break: one that waits, else the first launch */
    int64_t first_ns; /* how long that break is */
    uint32_t n_steps, last_step;
};

/* One break: what the thread calls between two regions. */
struct one_break {
    struct span free; /* from the last call of the one to the first of the other */
    int64_t last_ns;  /* end of the last call between them */
    uint32_t launches, waits;
    int64_t work_ns;
    row_t first;
};

static void graph_break_count_call(const struct sim_model *m, const struct sim_call *c,
                                   struct one_break *g)
{
    bool waits = c->wait != SIM_WAIT_NOTHING && !call_allocates(c->kind);
    g->last_ns = c->end_ns;
    if (g->first == ROW_NONE || (waits && !g->waits)) g->first = c->row;
    g->waits += waits;
    g->launches += c->n_work > 0;
    for (uint32_t i = 0; i < c->n_work; i++) {
        const struct sim_work *w = &m->works[m->works_by_call[c->first_work + i]];
        g->work_ns += w->end_ns - w->begin_ns;
    }
}

static struct one_break graph_break_look_between(const struct sim_model *m, uint32_t thread,
                                                 struct span a, struct span b)
{
    struct one_break g = {.free = {a.begin_ns, b.begin_ns}, .first = ROW_NONE};
    for (uint32_t c = sim_call_at(m, a.begin_ns); c < m->n_calls; c++) {
        const struct sim_call *call = &m->calls[c];
        if (call->begin_ns >= b.end_ns) break;
        if (call->thread != thread) continue;
        if (call->begin_ns >= b.begin_ns) {
            g.free.end_ns = call->begin_ns;
            break;
        }
        if (call->begin_ns < a.end_ns) g.free.begin_ns = call->end_ns;
        else graph_break_count_call(m, call, &g);
    }
    return g;
}

static void graph_break_add(const struct context *cx, struct breaks *b, uint32_t thread,
                            const struct one_break *g)
{
    uint32_t step = steps_at(steps_of(cx), g->free.begin_ns);
    b->spans[b->n++] =
        (struct sim_cut){.thread = thread, .begin_ns = g->free.begin_ns, .end_ns = g->free.end_ns};
    b->launches += g->launches;
    b->waits += g->waits;
    b->cpu_ns += span_ns(g->free);
    b->work_ns += g->work_ns;
    b->idle_ns += timeline_idle_in(timeline_of(cx), g->free);
    b->n_steps += step != b->last_step;
    b->last_step = step;
    if (span_ns(g->free) <= b->first_ns) return;
    b->first = g->first;
    b->first_ns = span_ns(g->free);
}

/* Pieces of one function in one step. */
static bool belong_together(const struct context *cx, const struct compiled_region *a,
                            const struct compiled_region *b)
{
    uint32_t step = steps_at(steps_of(cx), b->time.begin_ns);
    return a->holder == b->holder && step != UINT32_MAX &&
           step == steps_at(steps_of(cx), a->time.begin_ns);
}

/* Names of kernels do not say whether eager ones are a break or what the compiler called: only a
 * wait does. */
static bool is_break(const struct compiled_region *r, const struct one_break *g)
{
    if (r->holder != ROW_NONE && !g->waits) return false;
    return g->launches + g->waits && g->launches <= graph_break_launches;
}

/* What the last region of a step is followed by is the same break once more, if it does the same as
 * the one before; the next step's region is entered in any case. */
static bool is_last(const struct one_break *before, struct one_break *g)
{
    if (!before->launches || g->launches != before->launches || g->waits != before->waits)
        return false;
    g->free.end_ns = g->last_ns;
    return true;
}

/* The breaks of one thread, appended. */
static int graph_break_look_at(const struct context *cx, uint32_t thread, enum regions_from from,
                               struct breaks *b, struct err *e)
{
    struct compiled_regions all;
    TRY(compiled_regions_find(cx, thread, from, &all, e));
    struct compiled_region never = {{INT64_MAX, INT64_MAX}, ROW_NONE};
    struct one_break before = {0};
    for (uint32_t i = 0; i < all.n; i++) {
        const struct compiled_region *r = &all.list[i], *next = i + 1 < all.n ? r + 1 : &never;
        bool together = belong_together(cx, r, next);
        struct one_break g = graph_break_look_between(model_of(cx), thread, r->time, next->time);
        if (VEC_RESERVE(b->spans, b->n, b->cap, 1)) return err_nomem(e);
        if (is_break(r, &g) && (together || is_last(&before, &g)))
            graph_break_add(cx, b, thread, &g);
        before = together ? g : (struct one_break){0};
    }
    return 0;
}

static bool graph_break_is_finding(const struct context *cx, const struct breaks *b)
{
    int64_t work = 0;
    for (uint32_t w = 0; w < model_of(cx)->n_works; w++)
        work += model_of(cx)->works[w].end_ns - model_of(cx)->works[w].begin_ns;
    return b->n >= 2 && b->n_steps * 2 > steps_of(cx)->n_steps &&
           b->idle_ns >= rule_least_idle_ns(cx) &&
           (double)b->work_ns <= graph_break_work_share * (double)work;
}

static int graph_break_report(const struct context *cx, const struct breaks *b,
                              struct findings *out, struct err *e);

static int graph_break_find(const struct context *cx, struct breaks *b, struct findings *out,
                            struct err *e)
{
    enum regions_from from = compiled_regions_from(cx);
    for (uint32_t i = 0; i < model_of(cx)->n_threads; i++)
        TRY(graph_break_look_at(cx, i, from, b, e));
    return graph_break_is_finding(cx, b) ? graph_break_report(cx, b, out, e) : 0;
}

static int graph_break_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct breaks b = {.first = ROW_NONE, .last_step = UINT32_MAX};
    int rc = steps_of(cx)->n_steps < 2 ? 0 : graph_break_find(cx, &b, out, e);
    mem_free(b.spans);
    return rc;
}

const struct rule rule_graph_break = {
    .id = "graph_break",
    .summary = "graph breaks split compiled code",
    .limit = LIMIT_CPU,
    .run = graph_break_run,
};

static int graph_break_report(const struct context *cx, const struct breaks *b,
                              struct findings *out, struct err *e)
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
                 "%s breaks with %s launches and %s waits in %s steps", human_count(b->n).s,
                 human_count(b->launches).s, human_count(b->waits).s, human_count(steps).s);
    struct sim_cut *spans = arena_alloc(cx->mem, b->n * sizeof *spans);
    if (!spans) return err_nomem(e);
    if (b->n) memcpy(spans, b->spans, b->n * sizeof *spans);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = b->n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
