/* freeze_nest.c: which row encloses which, on one thread.
 *
 * Rows come in start order, so the open rows form a stack. A row belongs to the innermost open
 * row that contains it. Rows of different recorders (Python frames, ops) cross by a little in
 * nearly every trace: a row that starts inside an open row and outlives it belongs to it when
 * more than half of it lies inside, else to the next open row out; it is marked ROW_CROSSES.
 * Nothing is dropped. Instants get a parent but enclose nothing. */
#include "base/mem.h"
#include "base/vec.h"
#include "trace/freeze.h"

/* How far out a crossing row looks for a parent: hostile input must not make this quadratic. */
enum { MOST_STEPS_OUT = 64 };

struct stack {
    row_t *rows;
    size_t n, cap;
};

/* The parent of `r` among the open rows; sets ROW_CROSSES where it outlives one of them. */
static row_t find_parent(struct trace *t, const struct stack *open, row_t r)
{
    int64_t start = t->ts_ns[r], end = trace_end_ns(t, r);
    int steps = 0;
    for (size_t i = open->n; i-- > 0 && steps < MOST_STEPS_OUT; steps++) {
        row_t at = open->rows[i];
        int64_t at_end = trace_end_ns(t, at);
        if (end <= at_end) return at;
        if (at_end <= start) continue;
        t->flags[r] |= ROW_CROSSES;
        if (at_end - start > (end - start) / 2) return at;
    }
    return ROW_NONE;
}

static int nest_thread(struct trace *t, const struct lane *l, struct stack *open)
{
    open->n = 0;
    for (row_t r = l->begin; r < l->end; r++) {
        while (open->n && trace_end_ns(t, open->rows[open->n - 1]) <= t->ts_ns[r] &&
               trace_end_ns(t, open->rows[open->n - 1]) < trace_end_ns(t, r))
            open->n--;
        row_t parent = find_parent(t, open, r);
        if (parent != ROW_NONE && t->depth[parent] == TRACE_DEEPEST) parent = t->parent[parent];
        t->parent[r] = parent;
        if (parent != ROW_NONE) t->depth[r] = (uint16_t)(t->depth[parent] + 1);
        if (t->phase[r] != 'X' || !kind_nests(t->kind[r])) continue;
        if (VEC_RESERVE(open->rows, open->n, open->cap, 1)) return ERR_NOMEM;
        open->rows[open->n++] = r;
    }
    return 0;
}

/* Device work does not nest; what overlaps on one stream is marked. */
static void mark_overlaps(struct trace *t, const struct lane *l)
{
    int64_t busy_until = INT64_MIN;
    for (row_t r = l->begin; r < l->end; r++) {
        if (t->flags[r] & ROW_NO_TIME) continue;
        if (t->ts_ns[r] < busy_until) t->flags[r] |= ROW_CROSSES;
        if (trace_end_ns(t, r) > busy_until) busy_until = trace_end_ns(t, r);
    }
}

int freeze_nest(struct trace *t)
{
    struct stack open = {0};
    int rc = 0;
    t->parent = mem_alloc(t->n_rows * sizeof *t->parent);
    t->depth = mem_zalloc(t->n_rows, sizeof *t->depth);
    if (!t->parent || !t->depth) return ERR_NOMEM;
    for (uint32_t i = 0; i < t->n_lanes && rc == 0; i++) {
        const struct lane *l = &t->lanes[i];
        if (l->kind == LANE_THREAD) {
            rc = nest_thread(t, l, &open);
            continue;
        }
        for (row_t r = l->begin; r < l->end; r++) t->parent[r] = ROW_NONE;
        if (l->kind == LANE_STREAM) mark_overlaps(t, l);
    }
    mem_free(open.rows);
    return rc;
}
