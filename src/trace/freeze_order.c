/* freeze_order.c: finds the final order of the rows.
 *
 * Recorders write long runs that are already in time order (one per thread and buffer), so after a
 * counting sort by lane each lane is sorted by merging its natural runs: two or three runs cost
 * one or two passes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"
#include "trace/freeze.h"

struct lane_key {
    struct lane lane;
    uint32_t old;
};

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
    const struct lane_key *x = a, *y = b;
    int c = compare(x->lane.kind, y->lane.kind);
    if (!c) c = compare(x->lane.process, y->lane.process);
    if (!c) c = compare(x->lane.device, y->lane.device);
    if (!c) c = compare(x->lane.stream, y->lane.stream);
    if (!c) c = compare(x->lane.tid, y->lane.tid);
    return c ? c : compare(x->old, y->old);
}

int freeze_lanes(struct rows *r, struct trace *t)
{
    struct lane_key *keys = mem_alloc(t->n_lanes * sizeof *keys);
    uint32_t *renumbered = mem_alloc(t->n_lanes * sizeof *renumbered);
    int rc = keys && renumbered ? 0 : ERR_NOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < t->n_lanes; i++) keys[i] = (struct lane_key){t->lanes[i], i};
        qsort(keys, t->n_lanes, sizeof *keys, by_place);
        for (uint32_t i = 0; i < t->n_lanes; i++) {
            t->lanes[i] = keys[i].lane;
            renumbered[keys[i].old] = i;
        }
        for (size_t i = 0; i < r->n; i++) r->lane[i] = renumbered[r->lane[i]];
        for (uint32_t i = 0; i < t->n_flows; i++)
            if (t->flows[i].lane != LANE_NONE) t->flows[i].lane = renumbered[t->flows[i].lane];
    }
    mem_free(keys);
    mem_free(renumbered);
    return rc;
}

/* Counting sort by lane; rows of phase 0 are left out. Sets the lanes' bounds. */
static row_t *rows_by_lane(const struct rows *r, struct trace *t)
{
    row_t *order = mem_alloc(r->n * sizeof *order);
    if (!order) return NULL;
    for (size_t i = 0; i < r->n; i++) t->lanes[r->lane[i]].end += r->phase[i] != 0;
    row_t at = 0;
    for (uint32_t i = 0; i < t->n_lanes; i++) {
        t->lanes[i].begin = at;
        at += t->lanes[i].end;
        t->lanes[i].end = t->lanes[i].begin;
    }
    for (size_t i = 0; i < r->n; i++)
        if (r->phase[i]) order[t->lanes[r->lane[i]].end++] = (row_t)i;
    t->n_rows = at;
    return order;
}

struct sorting {
    const struct rows *rows;
    const struct trace *trace;
    row_t *order;
    bool *failed; /* by lane */
};

/* Whether row `b`, which comes later in the file, belongs before row `a`. */
static inline bool comes_before(const struct rows *r, row_t b, row_t a)
{
    if (r->ts_ns[b] != r->ts_ns[a]) return r->ts_ns[b] < r->ts_ns[a];
    return r->dur_ns[b] > r->dur_ns[a];
}

/* Merges from[lo, mid) and from[mid, hi) into to[lo, hi). */
static void merge(const struct rows *r, const row_t *from, row_t *to, const size_t bounds[3])
{
    size_t i = bounds[0], j = bounds[1], k = bounds[0];
    while (i < bounds[1] && j < bounds[2])
        to[k++] = comes_before(r, from[j], from[i]) ? from[j++] : from[i++];
    memcpy(to + k, from + i, (bounds[1] - i) * sizeof *to);
    k += bounds[1] - i;
    memcpy(to + k, from + j, (bounds[2] - j) * sizeof *to);
}

/* Starts of the runs already in order, then `n`; NULL when out of memory. */
static size_t *find_runs(const struct rows *r, const row_t *order, size_t n, size_t *ret_runs)
{
    size_t *starts = NULL, n_starts = 0, cap = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i > 0 && i < n && !comes_before(r, order[i], order[i - 1])) continue;
        if (VEC_RESERVE(starts, n_starts, cap, 1)) {
            mem_free(starts);
            return NULL;
        }
        starts[n_starts++] = i;
    }
    *ret_runs = n_starts - 1;
    return starts;
}

static bool sort_run(const struct rows *r, row_t *order, size_t n)
{
    size_t n_runs;
    size_t *starts = find_runs(r, order, n, &n_runs);
    row_t *spare = starts && n_runs > 1 ? mem_alloc(n * sizeof *spare) : NULL;
    if (!starts || (n_runs > 1 && !spare)) {
        mem_free(starts);
        return true;
    }
    row_t *from = order, *to = spare;
    while (n_runs > 1) {
        size_t kept = 0;
        for (size_t i = 0; i < n_runs; i += 2) {
            size_t last = i + 2 <= n_runs ? i + 2 : n_runs;
            merge(r, from, to, (size_t[3]){starts[i], starts[i + 1], starts[last]});
            starts[kept++] = starts[i];
        }
        starts[kept] = n;
        n_runs = kept;
        row_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) memcpy(order, from, n * sizeof *order);
    mem_free(starts);
    mem_free(spare);
    return false;
}

static void sort_lane(void *ctx, int item, int worker)
{
    struct sorting *s = ctx;
    const struct lane *l = &s->trace->lanes[item];
    if (l->end - l->begin > 1)
        s->failed[item] = sort_run(s->rows, s->order + l->begin, l->end - l->begin);
}

static row_t *find_order(const struct rows *r, struct trace *t, int n_threads)
{
    row_t *order = rows_by_lane(r, t);
    bool *failed = mem_zalloc(t->n_lanes, sizeof *failed);
    bool bad = !order || !failed;
    if (!bad) {
        struct sorting s = {r, t, order, failed};
        pool_run(n_threads, (int)t->n_lanes, sort_lane, &s);
        for (uint32_t i = 0; i < t->n_lanes; i++) bad |= failed[i];
    }
    mem_free(failed);
    if (!bad) return order;
    mem_free(order);
    return NULL;
}

int freeze_order(struct rows *r, struct trace *t, int n_threads)
{
    row_t *order = find_order(r, t, n_threads);
    if (!order) return ERR_NOMEM;
    int rc = freeze_gather(r, t, order, n_threads);
    mem_free(order);
    return rc;
}
