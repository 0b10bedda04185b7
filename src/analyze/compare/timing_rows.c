/* timing_rows.c: see timings.h. Rows come parents first, so one pass finds the stage of each,
 * and a second one collects the durations of every stage side by side. */
#include "analyze/compare/timings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/torch_words.h"
#include "base/jdoc.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"
#include "format/ring.h"

enum { ROOT = 0, MOST_NODES = 1 << 16 };

struct node {
    str_id name;
    uint32_t parent;
    uint32_t n_calls, n_errors, n_unfinished;
    int64_t total_ns, inner_ns, first_ts_ns, first_ns;
    int64_t peak_bytes;  /* of the process, or -1 */
    uint32_t at, filled; /* its durations in `durations` */
};

/* The memory of the process at some time (record/resident.h). */
struct memory_look {
    int64_t at_ns, bytes;
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
    str_id optimizer, loader;  /* torch's names of ranges that are one stage, as first met */
    struct memory_look *looks; /* by time */
    uint32_t n_looks;
};

/* What strata.run calls a range that torch makes itself, or `name` as it is. */
static struct str timing_rows_plain_name(struct str name)
{
    if (torch_is_optimizer_step(name)) return str_c("optimizer.step");
    return torch_is_loader(name) ? str_c("DataLoader.__next__") : name;
}

/* One id for all ranges of such a name. */
static str_id timing_rows_name(struct work *w, row_t r)
{
    struct str name = trace_name(w->t, r);
    str_id *one = torch_is_optimizer_step(name) ? &w->optimizer
                  : torch_is_loader(name)       ? &w->loader
                                                : NULL;
    if (!one) return w->t->name[r];
    if (*one == STR_NONE) *one = w->t->name[r];
    return *one;
}

static bool is_range(const struct work *w, row_t r)
{
    const struct trace *t = w->t;
    return t->kind[r] == KIND_ANNOTATION && t->phase[r] == 'X' &&
           t->lanes[t->lane[r]].process == w->of->process && trace_end_ns(t, r) > w->of->since_ns &&
           !(w->of->named && trace_is_derived(t, r)) &&
           !(w->of->stages && !(t->flags[r] & ROW_STAGE));
}

static bool timing_rows_is_step(const struct work *w, row_t r)
{
    return torch_is_step(trace_name(w->t, r));
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

static int timing_rows_find_node(struct work *w, uint32_t parent, str_id name, uint32_t *ret)
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
        w->nodes[w->n_nodes] = (struct node){
            .name = name, .parent = parent, .first_ts_ns = INT64_MAX, .peak_bytes = -1};
        *slot = (uint32_t)w->n_nodes++;
    }
    *ret = *slot;
    return 0;
}

static bool timing_rows_goes_on(const struct work *w, row_t r)
{
    return w->t->flags[r] & ROW_RESUMED && w->nodes[w->node_of[r]].n_calls;
}

/* Whether the range is counted: not inside the same stage, not failed, not cut off. */
static bool timing_rows_counts(const struct work *w, row_t r)
{
    uint32_t n = w->node_of[r];
    for (uint32_t up = node_around(w, r); up != ROOT; up = w->nodes[up].parent)
        if (up == n) return false;
    return !(w->t->flags[r] & (ROW_FAILED | ROW_UNFINISHED));
}

/* The most that was seen from `begin` to `end`, or just before; -1 without a look. */
static int64_t timing_rows_peak(const struct work *w, int64_t begin_ns, int64_t end_ns)
{
    uint32_t low = 0, high = w->n_looks;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (w->looks[mid].at_ns <= end_ns) low = mid + 1;
        else high = mid;
    }
    if (!low) return w->n_looks ? w->looks[0].bytes : -1;
    int64_t most = w->looks[low - 1].bytes;
    for (uint32_t i = low - 1; i > 0 && w->looks[i - 1].at_ns >= begin_ns; i--)
        if (w->looks[i - 1].bytes > most) most = w->looks[i - 1].bytes;
    return most;
}

static void timing_rows_count_row(struct work *w, row_t r)
{
    struct node *n = &w->nodes[w->node_of[r]];
    int64_t ts = w->t->ts_ns[r], dur = w->t->dur_ns[r];
    int64_t peak = timing_rows_peak(w, ts, ts + dur);
    if (peak > n->peak_bytes) n->peak_bytes = peak;
    if (w->t->flags[r] & ROW_FAILED) n->n_errors++;
    else if (w->t->flags[r] & ROW_UNFINISHED) n->n_unfinished++;
    else if (timing_rows_counts(w, r)) {
        n->n_calls += !timing_rows_goes_on(w, r);
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

static bool timing_rows_is_look(const struct work *w, row_t r)
{
    const struct trace *t = w->t;
    return t->kind[r] == KIND_COUNTER && t->lanes[t->lane[r]].process == w->of->process &&
           str_is(trace_name(t, r), RING_RESIDENT);
}

static int timing_rows_by_time(const void *a, const void *b)
{
    const struct memory_look *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int timing_rows_read_look(const struct work *w, row_t r, struct arena *mem, int64_t *ret)
{
    struct buf args;
    struct jdoc doc;
    struct arena_mark mark = arena_mark(mem);
    *ret = -1;
    buf_init(&args);
    int rc = trace_args(w->t, r, &args, NULL);
    if (rc == 0 && buf_ok(&args)) rc = jdoc_parse(buf_str(&args), mem, &doc, NULL);
    if (rc == 0 && buf_ok(&args)) *ret = (int64_t)jdoc_number(&doc, "value", -1);
    bool full = buf_ok(&args);
    buf_done(&args);
    arena_reset_to(mem, mark);
    return rc == ERR_NOMEM || !full ? ERR_NOMEM : 0;
}

static int timing_rows_find_looks(struct work *w, struct arena *mem)
{
    uint32_t n = 0;
    for (row_t r = 0; r < w->t->n_rows; r++) n += timing_rows_is_look(w, r);
    w->looks = arena_zalloc(mem, (size_t)n + 1, sizeof *w->looks);
    if (!w->looks) return ERR_NOMEM;
    for (row_t r = 0; n && r < w->t->n_rows; r++) {
        if (!timing_rows_is_look(w, r)) continue;
        struct memory_look *look = &w->looks[w->n_looks];
        look->at_ns = w->t->ts_ns[r];
        TRY(timing_rows_read_look(w, r, mem, &look->bytes));
        w->n_looks += look->bytes > 0;
    }
    if (w->n_looks) qsort(w->looks, w->n_looks, sizeof *w->looks, timing_rows_by_time);
    return 0;
}

static int find_stages(struct work *w)
{
    for (row_t r = 0; r < w->t->n_rows; r++) {
        w->node_of[r] = UINT32_MAX;
        if (!is_range(w, r) || timing_rows_is_step(w, r)) continue;
        TRY(timing_rows_find_node(w, node_around(w, r), timing_rows_name(w, r), &w->node_of[r]));
        timing_rows_count_row(w, r);
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
        if (w->node_of[r] == UINT32_MAX || !timing_rows_counts(w, r)) continue;
        struct node *n = &w->nodes[w->node_of[r]];
        if (w->t->flags[r] & ROW_RESUMED && n->filled)
            w->durations[n->at + n->filled - 1] += w->t->dur_ns[r];
        else w->durations[n->at + n->filled++] = w->t->dur_ns[r];
    }
    return 0;
}

static double timing_rows_deviation(const int64_t *v, uint32_t n)
{
    if (n < 2) return -1;
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) mean += (double)v[i] / n;
    for (uint32_t i = 0; i < n; i++) squares += ((double)v[i] - mean) * ((double)v[i] - mean);
    return sqrt(squares / (n - 1));
}

static void timing_rows_describe(struct work *w, const struct node *n, struct timing_stage *s)
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
    s->std_ns = timing_rows_deviation(v, n->n_calls);
    s->gpu_ns = s->gpu_median_ns = s->active_ns = s->awaited_ns = -1;
    s->peak_bytes = n->peak_bytes;
}

/* To the last row of the process. */
static void timing_rows_stretch(struct work *w)
{
    const struct trace *t = w->t;
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->lanes[t->lane[r]].process == w->of->process && trace_end_ns(t, r) > w->end_ns)
            w->end_ns = trace_end_ns(t, r);
}

static int timing_rows_fill(struct work *w, struct arena *mem, struct timing *ret)
{
    const char **paths = arena_zalloc(mem, w->n_nodes, sizeof *paths);
    ret->stages = arena_zalloc(mem, w->n_nodes, sizeof *ret->stages);
    if (!paths || !ret->stages) return ERR_NOMEM;
    ret->n_stages = 0;
    ret->total_ns = 0;
    for (uint32_t i = 1; i < w->n_nodes; i++) {
        const struct node *n = &w->nodes[i];
        struct str name = timing_rows_plain_name(trace_str(w->t, n->name));
        paths[i] = n->parent ? arena_printf(mem, "%s/" STR_FMT, paths[n->parent], STR_ARG(name))
                             : arena_strdup(mem, name);
        struct timing_stage *s = &ret->stages[ret->n_stages++];
        timing_rows_describe(w, n, s);
        s->path = paths[i];
        s->name = arena_strdup(mem, name);
        if (!s->path || !s->name) return ERR_NOMEM;
        if (!n->parent) ret->total_ns += n->total_ns;
    }
    int64_t begin = w->begin_ns;
    if (w->of->begin_ns > INT64_MIN) {
        begin = w->of->begin_ns;
        timing_rows_stretch(w);
    }
    if (w->of->since_ns > INT64_MIN) begin = w->of->since_ns;
    ret->wall_ns = ret->n_stages && w->end_ns > begin ? w->end_ns - begin : 0;
    return 0;
}

int timing_rows_run(const struct trace *t, const struct timing_rows_of *of, struct arena *mem,
                    struct timing *ret, struct err *e)
{
    struct work w = {.t = t,
                     .of = of,
                     .begin_ns = INT64_MAX,
                     .end_ns = INT64_MIN,
                     .optimizer = STR_NONE,
                     .loader = STR_NONE};
    map_init(&w.place);
    w.node_of = mem_alloc(((size_t)t->n_rows + 1) * sizeof *w.node_of);
    int rc = w.node_of && !VEC_RESERVE(w.nodes, w.n_nodes, w.cap_nodes, 1) ? 0 : ERR_NOMEM;
    if (rc == 0) w.nodes[w.n_nodes++] = (struct node){0};
    if (rc == 0) rc = timing_rows_find_looks(&w, mem);
    if (rc == 0) rc = find_stages(&w);
    if (rc == 0) rc = collect_durations(&w);
    if (rc == 0) rc = timing_rows_fill(&w, mem, ret);
    map_done(&w.place);
    mem_free(w.nodes);
    mem_free(w.node_of);
    mem_free(w.durations);
    return err_grow(e, rc);
}
