/* op_forward.c: see op_forward.h. */
#include "analyze/names/op_forward.h"

enum { OP_FORWARD_NEAR = 64 }; /* rows of a node: its function is among the first */

_Static_assert(MAP_NONE == ROW_NONE, "a row that is not in the map is ROW_NONE");

static bool op_forward_is_backward(const struct op_info *op)
{
    return op && op->fwd_thread > 0 && op->sequence != ID_NONE && op->sequence >= 0;
}

/* The backward operator at or above `r`, or ROW_NONE. */
static row_t backward_above(const struct trace *t, row_t r)
{
    while (r != ROW_NONE && !op_forward_is_backward(trace_op(t, r))) r = t->parent[r];
    return r;
}

static uint64_t op_forward_key_of(const struct trace *t, row_t r, int64_t sequence)
{
    return map_mix((uint64_t)sequence) ^ t->lanes[t->lane[r]].process;
}

static bool has_backward(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (op_forward_is_backward(&t->ops[i])) return true;
    return false;
}

static bool op_forward_fill(struct op_forward *f, const struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct op_info *op = t->kind[r] == KIND_OP ? trace_op(t, r) : NULL;
        if (!op || op->fwd_thread > 0 || op->sequence == ID_NONE || op->sequence < 0) continue;
        if (backward_above(t, r) != ROW_NONE) continue;
        uint32_t *slot = map_at(&f->first, op_forward_key_of(t, r, op->sequence));
        if (!slot) return true;
        if (*slot == MAP_NONE || t->ts_ns[r] < t->ts_ns[*slot]) *slot = r;
    }
    return false;
}

int op_forward_init(struct op_forward *f, const struct trace *t, struct err *e)
{
    map_init(&f->first);
    if (!has_backward(t) || !op_forward_fill(f, t)) return 0;
    map_done(&f->first);
    return err_nomem(e);
}

void op_forward_done(struct op_forward *f)
{
    map_done(&f->first);
}

row_t op_forward_of(const struct op_forward *f, const struct trace *t, row_t r)
{
    row_t backward = f->first.n ? backward_above(t, r) : ROW_NONE;
    if (backward == ROW_NONE) return ROW_NONE;
    return map_find(&f->first, op_forward_key_of(t, backward, trace_op(t, backward)->sequence));
}

row_t op_forward_near(const struct op_forward *f, const struct trace *t, row_t r)
{
    row_t found = op_forward_of(f, t, r);
    if (found != ROW_NONE || !f->first.n) return found;
    while (r != ROW_NONE && !str_starts(trace_name(t, r), "autograd::engine::evaluate_function: "))
        r = t->parent[r];
    if (r == ROW_NONE) return ROW_NONE;
    row_t end = t->lanes[t->lane[r]].end, last = r + OP_FORWARD_NEAR;
    for (row_t i = r + 1; i < end && i < last && t->depth[i] > t->depth[r]; i++)
        if (op_forward_is_backward(trace_op(t, i))) return op_forward_of(f, t, i);
    return ROW_NONE;
}
