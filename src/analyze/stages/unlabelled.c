/* unlabelled.c: walks the threads that have stages; a row is between stages when the innermost
 * stage around it only holds other stages, or when no thread of the process is in a stage. */
#include "analyze/stages/stages.h"
#include "analyze/stages/stages_private.h"

#include <stdlib.h>

#include "analyze/names/label.h"
#include "analyze/names/source_place.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* A stretch of time of a process. */
struct outer {
    uint32_t process;
    struct span time;
};

struct gap_walk {
    const struct trace *t;
    const struct context *cx;
    struct stages *s;
    int64_t *self_of_name; /* by str_id */
    uint32_t *calls_of_name;
    row_t *longest_of_name;
    int64_t *self;       /* by row of the lane */
    int64_t recorded_ns; /* all of self_of_name */
    row_t *work;
    size_t n_work, cap_work;
    struct source_places *where;
    struct outer *gaps; /* by process and time */
    uint32_t n_gaps, gaps_process;
};

/* ---- when no thread of a process is in a stage ---- */

static int by_process_and_begin(const void *a, const void *b)
{
    const struct outer *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    return x->time.begin_ns < y->time.begin_ns ? -1 : x->time.begin_ns > y->time.begin_ns;
}

/* The outermost stages of all threads, then what is left between them, in place: a server's threads
 * wait for requests most of the time, and that is not what the program does. */
static int unlabelled_find_gaps(struct gap_walk *g, struct arena *mem)
{
    const struct stage_tree *tree = &g->s->tree;
    uint32_t n = 0;
    g->gaps = arena_alloc(mem, ((size_t)tree->n_calls + 1) * sizeof *g->gaps);
    if (!g->gaps) return ERR_NOMEM;
    for (uint32_t c = 0; c < tree->n_calls; c++) {
        const struct stage_call *call = &tree->calls[c];
        if (call->parent != STAGE_NONE || g->s->list[call->node].backward) continue;
        g->gaps[n++] =
            (struct outer){g->t->lanes[call->lane].process, {call->begin_ns, call->end_ns}};
    }
    if (n) qsort(g->gaps, n, sizeof *g->gaps, by_process_and_begin);
    int64_t until = 0;
    for (uint32_t i = 0, same = 0; i < n; i++) {
        struct outer o = g->gaps[i]; /* n_gaps <= i: nothing is lost */
        if (same && g->gaps_process != o.process) same = 0;
        if (same && o.time.begin_ns > until)
            g->gaps[g->n_gaps++] = (struct outer){o.process, {until, o.time.begin_ns}};
        if (!same || o.time.end_ns > until) until = o.time.end_ns;
        g->gaps_process = o.process;
        same = 1;
    }
    return 0;
}

static bool in_gap(const struct gap_walk *g, uint32_t process, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, g->n_gaps,
                g->gaps[i].process < process ||
                    (g->gaps[i].process == process && g->gaps[i].time.end_ns <= ts_ns));
    return i < g->n_gaps && g->gaps[i].process == process && g->gaps[i].time.begin_ns <= ts_ns;
}

static bool unlabelled_is_between(const struct gap_walk *g, row_t r)
{
    uint32_t c = g->s->tree.owner[r];
    if (c != STAGE_NONE) return g->s->list[g->s->tree.calls[c].node].container;
    return in_gap(g, g->t->lanes[g->t->lane[r]].process, g->t->ts_ns[r]);
}

/* Time spent in each row itself: its duration without what its children cover of it. */
static void take_self_times(struct gap_walk *g, const struct lane *l)
{
    const struct trace *t = g->t;
    for (row_t r = l->begin; r < l->end; r++) g->self[r - l->begin] = t->dur_ns[r];
    for (row_t r = l->begin; r < l->end; r++) {
        row_t up = t->parent[r];
        if (up == ROW_NONE || t->phase[r] != 'X') continue;
        int64_t end = trace_end_ns(t, r), up_end = trace_end_ns(t, up);
        g->self[up - l->begin] -= (end < up_end ? end : up_end) - t->ts_ns[r];
    }
}

static bool is_stage_row(const struct gap_walk *g, row_t r)
{
    uint32_t c = g->s->tree.owner[r];
    return c != STAGE_NONE && g->s->tree.calls[c].row == r;
}

static bool is_step_mark(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && label_kind(trace_name(t, r)) == LABEL_STEP;
}

/* Whose time a row is: its own, or of the function around it where strata's wrappers lie between.
 */
static row_t unlabelled_whose(struct gap_walk *g, row_t r)
{
    while (r != ROW_NONE && (source_places_is_recorder(g->where, r) || is_stage_row(g, r)))
        r = g->t->parent[r];
    return r;
}

static void add_self(struct gap_walk *g, const struct lane *l, row_t r)
{
    if (is_step_mark(g->t, r)) return; /* the profiler's mark is not a function */
    int64_t self = g->self[r - l->begin];
    if (self <= 0) return;
    g->recorded_ns += self;
    row_t who = source_places_is_recorder(g->where, r) ? unlabelled_whose(g, r) : r;
    if (who == ROW_NONE || is_step_mark(g->t, who)) return;
    str_id name = g->t->name[who];
    bool first = !g->calls_of_name[name];
    g->self_of_name[name] += self;
    if (who == r || first) g->calls_of_name[name]++;
    row_t *longest = &g->longest_of_name[name];
    if (first || g->t->dur_ns[who] > g->t->dur_ns[*longest]) *longest = who;
}

static int unlabelled_add_call(struct gap_walk *g, row_t r)
{
    struct between *b = &g->s->between;
    enum call_kind kind = calls_kind(calls_of(g->cx), g->t, r);
    if (call_waits(kind) && !(g->t->flags[r] & ROW_PROFILER)) {
        b->syncs++;
        b->blocked_ns += g->t->dur_ns[r];
    }
    b->launches += call_launches(kind);
    uint32_t n;
    const row_t *rows = trace_launched(g->t, r, &n);
    if (VEC_RESERVE(g->work, g->n_work, g->cap_work, n)) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (timeline_has(g->t, rows[i])) g->work[g->n_work++] = rows[i];
    return 0;
}

static void add_gaps(struct gap_walk *g)
{
    struct between *b = &g->s->between;
    for (uint32_t i = 0; i < g->n_gaps; i++) {
        struct span s = g->gaps[i].time;
        b->cpu_ns += span_ns(s);
        for (uint32_t d = 0; d < timeline_of(g->cx)->n_devices; d++)
            b->idle_meanwhile_ns +=
                timeline_idle_ns(&timeline_of(g->cx)->devices[d], s.begin_ns, s.end_ns);
    }
}

static int unlabelled_walk_lane(struct gap_walk *g, lane_id lane)
{
    const struct lane *l = &g->t->lanes[lane];
    const struct stage_tree *tree = &g->s->tree;
    if (tree->first_call[lane] == tree->first_call[lane + 1]) return 0;
    take_self_times(g, l);
    for (row_t r = l->begin; r < l->end; r++) {
        if (is_stage_row(g, r) || !unlabelled_is_between(g, r)) continue;
        if (g->t->phase[r] == 'X' && kind_nests(g->t->kind[r])) add_self(g, l, r);
        if (trace_call(g->t, r)) TRY(unlabelled_add_call(g, r));
    }
    return 0;
}

static void pick_top(struct gap_walk *g)
{
    struct between *b = &g->s->between;
    for (str_id name = 0; name < g->t->strings.n; name++) {
        int64_t self = g->self_of_name[name];
        if (!self) continue;
        uint32_t at = b->n_top;
        while (at > 0 && b->top[at - 1].self_ns < self) at--;
        if (at == BETWEEN_TOP) continue;
        if (b->n_top < BETWEEN_TOP) b->n_top++;
        memmove(&b->top[at + 1], &b->top[at], (b->n_top - at - 1) * sizeof *b->top);
        b->top[at] =
            (struct self_time){name, g->longest_of_name[name], self, g->calls_of_name[name]};
    }
}

static uint32_t longest_lane(const struct trace *t)
{
    uint32_t most = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_THREAD && t->lanes[l].end - t->lanes[l].begin > most)
            most = t->lanes[l].end - t->lanes[l].begin;
    return most;
}

int unlabelled_run(const struct context *cx, struct stages *s, struct err *e)
{
    struct arena *mem = cx->mem;
    const struct trace *t = cx->t;
    struct gap_walk g = {.t = t, .cx = cx, .s = s, .where = places_of(cx)};
    struct arena_mark mark = arena_mark(mem);
    size_t n_names = (size_t)t->strings.n + 1;
    g.self_of_name = arena_zalloc(mem, n_names, sizeof *g.self_of_name);
    g.calls_of_name = arena_zalloc(mem, n_names, sizeof *g.calls_of_name);
    g.longest_of_name = arena_zalloc(mem, n_names, sizeof *g.longest_of_name);
    g.self = arena_alloc(mem, ((size_t)longest_lane(t) + 1) * sizeof *g.self);
    bool failed = !g.self_of_name || !g.calls_of_name || !g.longest_of_name || !g.self ||
                  unlabelled_find_gaps(&g, mem) < 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->list[i].container) continue;
        s->between.cpu_ns += s->list[i].self_cpu_ns;
        s->between.idle_meanwhile_ns += s->list[i].self_idle_meanwhile_ns;
    }
    if (!failed) add_gaps(&g);
    for (uint32_t l = 0; l < t->n_lanes && !failed; l++)
        if (t->lanes[l].kind == LANE_THREAD) failed = unlabelled_walk_lane(&g, l) < 0;
    if (!failed) {
        pick_top(&g);
        int64_t untraced = s->between.cpu_ns - g.recorded_ns;
        s->between.untraced_ns = untraced > 0 ? untraced : 0;
        s->between.gpu = work_sum_run(t, timeline_of(cx), g.work, (uint32_t)g.n_work);
    }
    mem_free(g.work);
    arena_reset_to(mem, mark);
    return failed ? err_nomem(e) : 0;
}
