/* op_strides.c: see op_strides.h. */
#include "analyze/ops/op_strides.h"

#include "analyze/names/shapes.h"

enum { MOST_INPUTS = 4 };

/* The array after "Input Strides": in the text of an event; .n is 0 when there is none. */
static struct str strides_in(struct str args)
{
    static const char key[] = "\"Input Strides\"";
    long at = str_find(args, key);
    if (at < 0) return str_c("");
    size_t i = (size_t)at + sizeof key - 1;
    while (i < args.n && args.p[i] != '[') i++;
    return str_from(args.p + i, args.n - i);
}

static bool op_strides_repeats(const struct shape *dims, const struct shape *strides)
{
    for (int i = 0; i < dims->rank && i < strides->rank; i++)
        if (strides->dim[i] == 0 && dims->dim[i] > 1) return true;
    return false;
}

/* The strides of the inputs as text, in `args`; .n is 0 when they cannot be read. */
static struct str read_strides(const struct trace *t, row_t op, struct buf *args)
{
    const struct op_info *info = op == ROW_NONE ? NULL : trace_op(t, op);
    if (!info || info->dims == STR_NONE) return str_c("");
    bool read = trace_args(t, op, args, NULL) == 0 && buf_ok(args);
    return read ? strides_in(buf_str(args)) : str_c("");
}

bool op_is_expanded(const struct trace *t, row_t op)
{
    struct buf args;
    buf_init(&args);
    struct str strides = read_strides(t, op, &args);
    bool any = false, expanded = !strides.n;
    for (int i = 0; i < MOST_INPUTS && !expanded; i++) {
        struct shape d, s;
        if (!shape_read(trace_str(t, trace_op(t, op)->dims), i, &d) || !shape_read(strides, i, &s))
            continue;
        any = true;
        expanded = op_strides_repeats(&d, &s);
    }
    buf_done(&args);
    return expanded || !any;
}

bool op_masks_padding(const struct trace *t, row_t op)
{
    enum { QUERY = 0, MASK = 3 };
    struct buf args;
    buf_init(&args);
    struct str strides = read_strides(t, op, &args);
    struct shape q, m, s;
    bool known = strides.n && shape_read(trace_str(t, trace_op(t, op)->dims), QUERY, &q) &&
                 shape_read(trace_str(t, trace_op(t, op)->dims), MASK, &m) && q.rank >= 2 &&
                 m.rank >= 2 && q.dim[q.rank - 2] > 1;
    bool same = known && m.dim[m.rank - 2] == 1;
    if (known && !same && shape_read(strides, MASK, &s) && s.rank == m.rank)
        same = s.dim[s.rank - 2] == 0;
    buf_done(&args);
    return same;
}

/* Whether one of the last two strides is not a multiple of `unit`; that of neighbours is 1. */
static bool is_misaligned(const struct shape *s, int64_t unit)
{
    bool odd = false;
    for (int i = s->rank > 2 ? s->rank - 2 : 0; i < s->rank; i++)
        odd |= s->dim[i] > 1 && s->dim[i] % unit != 0;
    return odd;
}

enum op_alignment op_alignment(const struct trace *t, row_t op, int64_t unit)
{
    struct buf args;
    buf_init(&args);
    struct str strides = read_strides(t, op, &args);
    enum op_alignment found = ALIGNMENT_UNKNOWN;
    for (int i = 0; unit > 0 && i < MOST_INPUTS && strides.n; i++) {
        struct shape s;
        if (!shape_read(strides, i, &s) || s.rank < 2) continue;
        if (found != MISALIGNED) found = is_misaligned(&s, unit) ? MISALIGNED : ALIGNED;
    }
    buf_done(&args);
    return found;
}
