/* op_forward.c: see op_forward.h. */
#include "analyze/ops/op_forward.h"

_Static_assert(MAP_NONE == ROW_NONE, "a row that is not in the map is ROW_NONE");

static bool is_backward(const struct op_info *op)
{
    return op && op->fwd_thread > 0 && op->sequence != ID_NONE && op->sequence >= 0;
}

/* The backward operator at or above `r`, or ROW_NONE. */
static row_t backward_above(const struct trace *t, row_t r)
{
    while (r != ROW_NONE && !is_backward(trace_op(t, r))) r = t->parent[r];
    return r;
}

static uint64_t key_of(const struct trace *t, row_t r, int64_t sequence)
{
    return map_mix((uint64_t)sequence) ^ t->lanes[t->lane[r]].process;
}

static bool has_backward(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (is_backward(&t->ops[i])) return true;
    return false;
}

static bool fill(struct op_forward *f, const struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct op_info *op = t->kind[r] == KIND_OP ? trace_op(t, r) : NULL;
        if (!op || op->fwd_thread > 0 || op->sequence == ID_NONE || op->sequence < 0) continue;
        if (backward_above(t, r) != ROW_NONE) continue;
        uint32_t *slot = map_at(&f->first, key_of(t, r, op->sequence));
        if (!slot) return true;
        if (*slot == MAP_NONE || t->ts_ns[r] < t->ts_ns[*slot]) *slot = r;
    }
    return false;
}

int op_forward_init(struct op_forward *f, const struct trace *t, struct err *e)
{
    map_init(&f->first);
    if (!has_backward(t) || !fill(f, t)) return 0;
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
    return map_find(&f->first, key_of(t, backward, trace_op(t, backward)->sequence));
}
