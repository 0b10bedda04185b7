/* work_op.c: see work_op.h. */
#include "analyze/kernels/work_op.h"

#include "analyze/deep/deep_match.h"
#include "analyze/kernels/roofline.h"

static row_t work_op_around(const struct trace *t, row_t work)
{
    return trace_up(t, trace_launch_of(t, work), KIND_OP);
}

/* Whether another unit in depth has another operator there. */
static bool work_op_differs(const struct deep_match *d, row_t twin, row_t op)
{
    row_t other = deep_match_other(d, twin);
    if (other == ROW_NONE) return false;
    row_t its = work_op_around(d->deep, other);
    return its == ROW_NONE || d->deep->name[its] != d->deep->name[op];
}

struct work_op work_op_of(const struct context *cx, row_t work)
{
    const struct trace *t = cx->t;
    const struct deep_match *d = deep_match_of(cx);
    struct work_op own = {t, work, trace_launch_of(t, work),
                          roofline_owner(roofline_of(cx), t, work), true};
    row_t twin = own.op == ROW_NONE ? deep_match_twin(d, t, work) : ROW_NONE;
    row_t op = twin == ROW_NONE ? ROW_NONE : work_op_around(d->deep, twin);
    if (op == ROW_NONE || work_op_differs(d, twin, op)) return own;
    bool same = deep_match_alike(d, t, work) != ROW_NONE;
    return (struct work_op){d->deep, twin, trace_launch_of(d->deep, twin), op, same};
}

struct work_op work_op_under(const struct context *cx, row_t work, const char *part)
{
    struct work_op o = work_op_of(cx, work);
    row_t at = o.call == ROW_NONE ? o.op : o.t->parent[o.call];
    for (o.op = ROW_NONE; at != ROW_NONE && o.op == ROW_NONE; at = o.t->parent[at])
        if (o.t->kind[at] == KIND_OP && str_has(trace_name(o.t, at), part)) o.op = at;
    return o;
}
