/* readback_way.c: the table; see host_side.h. */
#include "analyze/findings/host_side.h"
#include "analyze/kernels/work_op.h"

struct readback_way_row {
    const char *op;
    const char *below; /* an operator between it and the wait, or NULL */
    const char *way;
};

static const struct readback_way_row ways[] = {
    {"aten::index_put_", "aten::nonzero",
     "Do not assign through a boolean mask (x[mask] = y waits to learn how many values it has): "
     "x = torch.where(mask, y, x), or x.masked_fill_(mask, value) for one value."},
    {"aten::index", "aten::nonzero",
     "Do not select by a boolean mask (x[mask] waits to learn how many values it has): multiply "
     "by the mask, use torch.where, or torch.nonzero_static(mask, size=n) where the number is "
     "known."},
    {"aten::masked_select", NULL,
     "masked_select waits to learn how many values it has: multiply by the mask, use torch.where, "
     "or torch.nonzero_static(mask, size=n) where the number is known."},
    {"aten::repeat_interleave", NULL,
     "Give repeat_interleave its output_size (known on the CPU, as a rule): without it, it waits "
     "to learn the sum of the repeats."},
};

static bool readback_way_lies_between(const struct trace *t, row_t call, row_t op, const char *name)
{
    for (row_t r = t->parent[call]; r != ROW_NONE && r != op; r = t->parent[r])
        if (t->kind[r] == KIND_OP && str_is(trace_name(t, r), name)) return true;
    return false;
}

static const char *readback_way_around(const struct trace *t, row_t call)
{
    for (row_t r = t->parent[call]; r != ROW_NONE; r = t->parent[r])
        for (size_t i = 0; i < sizeof ways / sizeof *ways && t->kind[r] == KIND_OP; i++)
            if (str_is(trace_name(t, r), ways[i].op) &&
                (!ways[i].below || readback_way_lies_between(t, call, r, ways[i].below)))
                return ways[i].way;
    return NULL;
}

const char *readback_way(const struct context *cx, const struct wait *w)
{
    const char *way = readback_way_around(cx->t, w->call);
    if (way || w->copy == ROW_NONE) return way;
    struct work_op by = work_op_of(cx, w->copy);
    return by.op == ROW_NONE || by.call == ROW_NONE ? NULL : readback_way_around(by.t, by.call);
}
