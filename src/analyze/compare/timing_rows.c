/* timing_rows.c: see timing_rows.h. Rows come parents first, so one pass finds the stage of each,
 * and a second one collects the durations of every stage side by side. */
#include "analyze/compare/timing_rows.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"

enum { ROOT = 0, MOST_NODES = 1 << 16 };

struct node {
    str_id name;
    uint32_t parent;
    uint32_t n_calls, n_errors, n_unfinished;
    int64_t total_ns, inner_ns, first_ts_ns, first_ns;
    uint32_t at, filled; /* its durations in `durations` */
};

struct work {
    const struct trace *t;
    const struct timing_rows_of *of;
    struct node *nodes;
    size_t n_nodes, cap_nodes;
    struct map place;
    uint32_t *node_of;  /* by row; UINT32_MAX for rows that are not a range of the process */
    int64_t *durations; /* by node */
    int64_t begin_ns, end_ns;
};

static bool is_range(const struct work *w, row_t r)
{
    const struct trace *t = w->t;
    return t->kind[r] == KIND_ANNOTATION && t->phase[r] == 'X' &&
           t->lanes[t->lane[r]].process == w->of->process && trace_end_ns(t, r) > w->of->since_ns &&
           !(w->of->named && trace_is_derived(t, r));
}

static bool is_step(const struct work *w, row_t r)
{
    return str_starts(trace_name(w->t, r), "ProfilerStep#");
}

/* The nearest enclosing range, and the stage it belongs to. */
static row_t row_around(const struct work *w, row_t r)
{
    row_t up = w->t->parent[r];
    while (up != ROW_NONE && w->node_of[up] == UINT32_MAX) up = w->t->parent[up];
    return up;
}

static uint32_t node_around(const struct work *w, row_t r)
{
    row_t up = row_around(w, r);
    return up == ROW_NONE ? ROOT : w->node_of[up];
}

static int find_node(struct work *w, uint32_t parent, str_id name, uint32_t *ret)
{
    for (uint32_t n = parent; n != ROOT; n = w->nodes[n].parent)
        if (w->nodes[n].name == name) {
            *ret = n;
            return 0;
        }
    uint32_t *slot = map_at(&w->place, (uint64_t)parent << 32 | name);
    if (!slot) return ERR_NOMEM;
    if (*slot == MAP_NONE) {
        if (w->n_nodes >= MOST_NODES) {
            *ret = parent;
            return 0;
        }
        if (VEC_RESERVE(w->nodes, w->n_nodes, w->cap_nodes, 1)) return ERR_NOMEM;
        w->nodes[w->n_nodes] =
            (struct node){.name = name, .parent = parent, .first_ts_ns = INT64_MAX};
        *slot = (uint32_t)w->n_nodes++;
    }
    *ret = *slot;
    return 0;
}

static bool goes_on(const struct work *w, row_t r)
{
    return w->t->flags[r] & ROW_RESUMED && w->nodes[w->node_of[r]].n_calls;
}

/* Whether the range is counted: not inside the same stage, not failed, not cut off. */
static bool counts(const struct work *w, row_t r)
{
    uint32_t n = w->node_of[r];
    for (uint32_t up = node_around(w, r); up != ROOT; up = w->nodes[up].parent)
        if (up == n) return false;
    return !(w->t->flags[r] & (ROW_FAILED | ROW_UNFINISHED));
}

static void count_row(struct work *w, row_t r)
{
    struct node *n = &w->nodes[w->node_of[r]];
    int64_t ts = w->t->ts_ns[r], dur = w->t->dur_ns[r];
    if (w->t->flags[r] & ROW_FAILED) n->n_errors++;
    else if (w->t->flags[r] & ROW_UNFINISHED) n->n_unfinished++;
    else if (counts(w, r)) {
        n->n_calls += !goes_on(w, r);
        n->total_ns += dur;
        if (ts < n->first_ts_ns) {
            n->first_ts_ns = ts;
            n->first_ns = dur;
        }
        row_t around = row_around(w, r);
        if (around != ROW_NONE && !(w->t->flags[around] & (ROW_FAILED | ROW_UNFINISHED)))
            w->nodes[w->node_of[around]].inner_ns += dur;
    }
    if (ts < w->begin_ns) w->begin_ns = ts;
    if (ts + dur > w->end_ns) w->end_ns = ts + dur;
}

static int find_stages(struct work *w)
{
    for (row_t r = 0; r < w->t->n_rows; r++) {
        w->node_of[r] = UINT32_MAX;
        if (!is_range(w, r) || is_step(w, r)) continue;
        TRY(find_node(w, node_around(w, r), w->t->name[r], &w->node_of[r]));
        count_row(w, r);
    }
    return 0;
}

static int collect_durations(struct work *w)
{
    uint32_t total = 0;
    for (size_t i = 0; i < w->n_nodes; i++) {
        w->nodes[i].at = total;
        total += w->nodes[i].n_calls;
    }
    w->durations = mem_alloc((size_t)total * sizeof *w->durations);
    if (!w->durations) return ERR_NOMEM;
    for (row_t r = 0; r < w->t->n_rows; r++) {
        if (w->node_of[r] == UINT32_MAX || !counts(w, r)) continue;
        struct node *n = &w->nodes[w->node_of[r]];
        if (w->t->flags[r] & ROW_RESUMED && n->filled)
            w->durations[n->at + n->filled - 1] += w->t->dur_ns[r];
        else w->durations[n->at + n->filled++] = w->t->dur_ns[r];
    }
    return 0;
}

static double deviation(const int64_t *v, uint32_t n)
{
    if (n < 2) return -1;
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) mean += (double)v[i] / n;
    for (uint32_t i = 0; i < n; i++) squares += ((double)v[i] - mean) * ((double)v[i] - mean);
    return sqrt(squares / (n - 1));
}

static void describe(struct work *w, const struct node *n, struct timing_stage *s)
{
    int64_t *v = w->durations + n->at;
    stats_sort(v, n->n_calls);
    s->count = n->n_calls;
    s->errors = n->n_errors;
    s->unfinished = n->n_unfinished;
    s->total_ns = n->total_ns;
    s->self_ns = n->total_ns > n->inner_ns ? n->total_ns - n->inner_ns : 0;
    s->first_ns = n->n_calls ? n->first_ns : -1;
    s->median_ns = n->n_calls ? stats_median(v, n->n_calls) : -1;
    s->p95_ns = n->n_calls ? stats_percentile(v, n->n_calls, 95) : -1;
    s->min_ns = n->n_calls ? v[0] : -1;
    s->max_ns = n->n_calls ? v[n->n_calls - 1] : -1;
    s->std_ns = deviation(v, n->n_calls);
    s->gpu_ns = s->gpu_median_ns = s->active_ns = s->awaited_ns = s->peak_bytes = -1;
}

static int fill(struct work *w, struct arena *mem, struct timing *ret)
{
    const char **paths = arena_zalloc(mem, w->n_nodes, sizeof *paths);
    ret->stages = arena_zalloc(mem, w->n_nodes, sizeof *ret->stages);
    if (!paths || !ret->stages) return ERR_NOMEM;
    ret->n_stages = 0;
    ret->total_ns = 0;
    for (uint32_t i = 1; i < w->n_nodes; i++) {
        const struct node *n = &w->nodes[i];
        struct str name = trace_str(w->t, n->name);
        paths[i] = n->parent ? arena_printf(mem, "%s/" STR_FMT, paths[n->parent], STR_ARG(name))
                             : arena_strdup(mem, name);
        struct timing_stage *s = &ret->stages[ret->n_stages++];
        describe(w, n, s);
        s->path = paths[i];
        s->name = arena_strdup(mem, name);
        if (!s->path || !s->name) return ERR_NOMEM;
        if (!n->parent) ret->total_ns += n->total_ns;
    }
    int64_t begin = w->of->since_ns > INT64_MIN ? w->of->since_ns : w->begin_ns;
    ret->wall_ns = ret->n_stages && w->end_ns > begin ? w->end_ns - begin : 0;
    return 0;
}

int timing_rows_run(const struct trace *t, const struct timing_rows_of *of, struct arena *mem,
                    struct timing *ret, struct err *e)
{
    struct work w = {.t = t, .of = of, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    map_init(&w.place);
    w.node_of = mem_alloc(((size_t)t->n_rows + 1) * sizeof *w.node_of);
    int rc = w.node_of && !VEC_RESERVE(w.nodes, w.n_nodes, w.cap_nodes, 1) ? 0 : ERR_NOMEM;
    if (rc == 0) w.nodes[w.n_nodes++] = (struct node){0};
    if (rc == 0) rc = find_stages(&w);
    if (rc == 0) rc = collect_durations(&w);
    if (rc == 0) rc = fill(&w, mem, ret);
    map_done(&w.place);
    mem_free(w.nodes);
    mem_free(w.node_of);
    mem_free(w.durations);
    return err_grow(e, rc);
}
