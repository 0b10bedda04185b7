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

static bool repeats(const struct shape *dims, const struct shape *strides)
{
    for (int i = 0; i < dims->rank && i < strides->rank; i++)
        if (strides->dim[i] == 0 && dims->dim[i] > 1) return true;
    return false;
}

bool op_is_expanded(const struct trace *t, row_t op)
{
    const struct op_info *info = op == ROW_NONE ? NULL : trace_op(t, op);
    if (!info || info->dims == STR_NONE) return true;
    struct buf args;
    buf_init(&args);
    bool read = trace_args(t, op, &args, NULL) == 0 && buf_ok(&args);
    struct str strides = read ? strides_in(buf_str(&args)) : str_c("");
    bool any = false, expanded = !strides.n;
    for (int i = 0; i < MOST_INPUTS && !expanded; i++) {
        struct shape d, s;
        if (!shape_read(trace_str(t, info->dims), i, &d) || !shape_read(strides, i, &s)) continue;
        any = true;
        expanded = repeats(&d, &s);
    }
    buf_done(&args);
    return expanded || !any;
}
