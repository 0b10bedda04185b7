/* freeze_order.c: finds the final order of the rows, which does not depend on the order of the file
 * as far as the rows say what it is: by time, by what encloses what, by the ids that recorders
 * give in order. What then is left is in the order of the file, or against it where the file goes
 * back in time.
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
    struct str tid_text; /* what stands for a thread without a number */
};

static int freeze_order_compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int freeze_order_by_place(const void *a, const void *b)
{
    const struct lane_key *x = a, *y = b;
    int c = freeze_order_compare(x->lane.kind, y->lane.kind);
    if (!c) c = freeze_order_compare(x->lane.process, y->lane.process);
    if (!c) c = freeze_order_compare(x->lane.device, y->lane.device);
    if (!c) c = freeze_order_compare(x->lane.stream, y->lane.stream);
    if (!c) c = freeze_order_compare(x->lane.tid, y->lane.tid);
    if (!c) c = str_cmp(x->tid_text, y->tid_text);
    return c ? c : freeze_order_compare(x->old, y->old);
}

struct process_key {
    struct process process;
    struct str pid_text;
    uint32_t old;
};

static int freeze_order_by_pid(const void *a, const void *b)
{
    const struct process_key *x = a, *y = b;
    int c = freeze_order_compare(x->process.pid == ID_NONE, y->process.pid == ID_NONE);
    if (!c) c = freeze_order_compare(x->process.pid, y->process.pid);
    if (!c) c = str_cmp(x->pid_text, y->pid_text);
    return c ? c : freeze_order_compare(x->old, y->old);
}

/* Numbers the processes: by what they are called, not by who comes first in the file. */
static int freeze_processes(struct trace *t)
{
    uint32_t n = t->n_processes;
    struct process_key *keys = mem_alloc((n + (size_t)1) * sizeof *keys);
    uint32_t *renumbered = mem_alloc((n + (size_t)1) * sizeof *renumbered);
    int rc = keys && renumbered ? 0 : ERR_NOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < n; i++)
            keys[i] =
                (struct process_key){t->processes[i], trace_str(t, t->processes[i].pid_text), i};
        if (n) qsort(keys, n, sizeof *keys, freeze_order_by_pid);
        for (uint32_t i = 0; i < n; i++) {
            t->processes[i] = keys[i].process;
            renumbered[keys[i].old] = i;
        }
        for (uint32_t i = 0; i < t->n_lanes; i++)
            t->lanes[i].process = renumbered[t->lanes[i].process];
    }
    mem_free(keys);
    mem_free(renumbered);
    return rc;
}

int freeze_lanes(struct rows *r, struct trace *t)
{
    TRY(freeze_processes(t));
    struct lane_key *keys = mem_alloc(t->n_lanes * sizeof *keys);
    uint32_t *renumbered = mem_alloc(t->n_lanes * sizeof *renumbered);
    int rc = keys && renumbered ? 0 : ERR_NOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < t->n_lanes; i++)
            keys[i] = (struct lane_key){t->lanes[i], i, trace_str(t, t->lanes[i].tid_text)};
        qsort(keys, t->n_lanes, sizeof *keys, freeze_order_by_place);
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

/* A lane whose rows are to be ordered. */
struct keys {
    const struct rows *r;
    const struct intern *strings;
    bool backwards; /* the file goes back in time */
};

/* Of two rows of the same span, which one encloses the other: a label what it names, a function the
 * operators it calls, those their calls of the driver. */
static int freeze_order_level(enum row_kind kind)
{
    switch (kind) {
    case KIND_ANNOTATION: return 0;
    case KIND_PYTHON: return 1;
    case KIND_OP: return 2;
    case KIND_RUNTIME: return 3;
    case KIND_DRIVER: return 4;
    default: return 5 + (int)kind;
    }
}

/* Counted up by recorders as rows begin; INT64_MAX where there is none. */
static int64_t freeze_order_id(const struct rows *r, row_t i)
{
    int64_t id = ID_NONE;
    if (r->aux[i] == UINT32_MAX) return INT64_MAX;
    switch (kind_table(r->kind[i])) {
    case TABLE_PY: id = r->py[r->aux[i]].id; break;
    case TABLE_OP: id = r->ops[r->aux[i]].external_id; break;
    case TABLE_CALL: id = r->calls[r->aux[i]].correlation; break;
    case TABLE_GPU: id = r->gpu[r->aux[i]].correlation; break;
    default: break;
    }
    return id < 0 ? INT64_MAX : id;
}

/* Rows of the same span. What is nested or allocated in no time has the order it was written in;
 * the name decides about others. */
static bool freeze_order_tie(const struct keys *k, row_t b, row_t a)
{
    const struct rows *r = k->r;
    int c = freeze_order_level(r->kind[b]) - freeze_order_level(r->kind[a]);
    if (!c) c = freeze_order_compare(freeze_order_id(r, b), freeze_order_id(r, a));
    if (!c && r->name[b] != r->name[a] && kind_is_device(r->kind[b]))
        c = str_cmp(intern_get(k->strings, r->name[b]), intern_get(k->strings, r->name[a]));
    return c ? c < 0 : k->backwards;
}

/* Whether row `b`, which comes later in the file, belongs before row `a`. */
static inline bool comes_before(const struct keys *k, row_t b, row_t a)
{
    const struct rows *r = k->r;
    if (r->ts_ns[b] != r->ts_ns[a]) return r->ts_ns[b] < r->ts_ns[a];
    if (r->dur_ns[b] != r->dur_ns[a]) return r->dur_ns[b] > r->dur_ns[a];
    return freeze_order_tie(k, b, a);
}

/* Nearly always, that is: recorders write buffers of several threads in any order. */
static bool goes_back(const struct rows *r, const row_t *order, size_t n)
{
    enum { FEW = 8 };
    size_t up = 0, down = 0;
    for (size_t i = 1; i < n; i++) {
        up += r->ts_ns[order[i]] > r->ts_ns[order[i - 1]];
        down += r->ts_ns[order[i]] < r->ts_ns[order[i - 1]];
    }
    return down > FEW && down > 4 * up;
}

/* Merges from[lo, mid) and from[mid, hi) into to[lo, hi). */
static void freeze_order_merge(const struct keys *r, const row_t *from, row_t *to,
                               const size_t bounds[3])
{
    size_t i = bounds[0], j = bounds[1], k = bounds[0];
    while (i < bounds[1] && j < bounds[2])
        to[k++] = comes_before(r, from[j], from[i]) ? from[j++] : from[i++];
    memcpy(to + k, from + i, (bounds[1] - i) * sizeof *to);
    k += bounds[1] - i;
    memcpy(to + k, from + j, (bounds[2] - j) * sizeof *to);
}

/* Starts of the runs already in order, then `n`; NULL when out of memory. */
static size_t *freeze_order_find_runs(const struct keys *r, const row_t *order, size_t n,
                                      size_t *ret_runs)
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

static bool sort_run(const struct keys *r, row_t *order, size_t n)
{
    size_t n_runs;
    size_t *starts = freeze_order_find_runs(r, order, n, &n_runs);
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
            freeze_order_merge(r, from, to, (size_t[3]){starts[i], starts[i + 1], starts[last]});
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
    size_t n = l->end - l->begin;
    row_t *order = s->order + l->begin;
    struct keys k = {s->rows, &s->trace->strings, goes_back(s->rows, order, n)};
    if (n > 1) s->failed[item] = sort_run(&k, order, n);
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
