/* op_flops.c: see op_groups.h. */
#include "analyze/ops/op_groups.h"

#include "analyze/names/shapes.h"

enum op_flops_kind op_flops_kind(struct str op_name)
{
    static const struct {
        const char *name;
        enum op_flops_kind kind;
    } ops[] = {
        {"aten::mm", FLOPS_MM},         {"aten::addmm", FLOPS_ADDMM},
        {"aten::bmm", FLOPS_BMM},       {"aten::baddbmm", FLOPS_BADDBMM},
        {"aten::conv2d", FLOPS_CONV2D}, {"aten::mul", FLOPS_POINTWISE},
        {"aten::add", FLOPS_POINTWISE},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_is(op_name, ops[i].name)) return ops[i].kind;
    return FLOPS_NONE;
}

struct inputs {
    struct str dims, types, concrete;
};

static bool op_flops_tensor(const struct inputs *in, int arg, struct shape *ret)
{
    return shape_is_tensor(in->types, in->dims, arg) && shape_read(in->dims, arg, ret);
}

/* Two operations for every multiply-add of a x b, where a ends in the dimension they share. */
static uint64_t matmul_flops(const struct inputs *in, int arg, bool batched)
{
    struct shape a, b;
    if (!op_flops_tensor(in, arg, &a) || !op_flops_tensor(in, arg + 1, &b) || a.rank == 0) return 0;
    uint64_t shared = (uint64_t)a.dim[a.rank - 1];
    uint64_t batch = batched ? (uint64_t)a.dim[0] : 1;
    if (!shared || !batch) return 0;
    return shape_size(&a) / shared / batch * shape_size(&b) * 2;
}

/* The `arg`-th input where it is a list of at least two whole numbers, such as a stride. */
static bool op_flops_pair(const struct inputs *in, int arg, int64_t ret[2])
{
    struct str text = shape_text(in->concrete, arg);
    if (!text.p || text.n + 3 > 128) return false;
    char wrapped[128]; /* "[1, 1]" becomes "[[1, 1]]", which reads as a shape */
    wrapped[0] = '[';
    memcpy(wrapped + 1, text.p, text.n);
    wrapped[text.n + 1] = ']';
    struct shape s;
    if (!shape_read(str_from(wrapped, text.n + 2), 0, &s) || s.rank < 2) return false;
    ret[0] = s.dim[0];
    ret[1] = s.dim[1];
    return true;
}

static bool whole_number(struct str text, int64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || i == 9) return false;
        *ret = *ret * 10 + (text.p[i] - '0');
    }
    return text.n > 0;
}

enum { CONV_INPUT, CONV_WEIGHT, CONV_BIAS, CONV_STRIDE, CONV_PADDING, CONV_DILATION, CONV_GROUPS };

static uint64_t conv2d_flops(const struct inputs *in)
{
    struct shape x, w;
    int64_t stride[2], padding[2], dilation[2], groups;
    if (!op_flops_tensor(in, CONV_INPUT, &x) || !op_flops_tensor(in, CONV_WEIGHT, &w)) return 0;
    if (x.rank != 4 || w.rank != 4) return 0;
    if (!op_flops_pair(in, CONV_STRIDE, stride) || !op_flops_pair(in, CONV_PADDING, padding) ||
        !op_flops_pair(in, CONV_DILATION, dilation))
        return 0;
    if (!whole_number(shape_text(in->concrete, CONV_GROUPS), &groups) || groups == 0) return 0;
    uint64_t flops = 2 * (uint64_t)x.dim[0] * (uint64_t)x.dim[1] * (uint64_t)w.dim[0];
    for (int i = 0; i < 2; i++) {
        if (stride[i] <= 0) return 0;
        uint64_t reach = (uint64_t)dilation[i] * ((uint64_t)w.dim[2 + i] - 1) + 1;
        uint64_t room = (uint64_t)x.dim[2 + i] + 2 * (uint64_t)padding[i];
        uint64_t steps = (room - reach) / (uint64_t)stride[i] + 1;
        flops *= steps * (uint64_t)w.dim[2 + i];
    }
    return flops / (uint64_t)groups;
}

uint64_t op_flops(const struct trace *t, row_t r, enum op_flops_kind kind)
{
    const struct op_info *op = trace_op(t, r);
    if (!op || op->dims == STR_NONE) return 0;
    struct inputs in = {trace_str(t, op->dims), trace_str(t, op->types),
                        trace_str(t, op->concrete)};
    struct shape x;
    switch (kind) {
    case FLOPS_MM: return matmul_flops(&in, 0, false);
    case FLOPS_ADDMM: return matmul_flops(&in, 1, false);
    case FLOPS_BMM: return matmul_flops(&in, 0, true);
    case FLOPS_BADDBMM: return matmul_flops(&in, 1, true);
    case FLOPS_CONV2D: return conv2d_flops(&in);
    case FLOPS_POINTWISE: return op_flops_tensor(&in, 0, &x) ? shape_size(&x) : 0;
    case FLOPS_NONE: break;
    }
    return 0;
}
