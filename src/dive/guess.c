/* guess.c: see guess.h. */
#include "dive/guess.h"

#include <math.h>

#include "analyze/kernels/occupancy.h"
#include "analyze/names/shapes.h"
#include "analyze/ops/op_flops.h"

enum { MOST_INPUTS = 16, LEVELS_UP = 8 };

static double bytes_of_type(struct str type)
{
    static const struct {
        const char *word;
        double bytes;
    } types[] = {
        {"BFloat16", 2},
        {"Half", 2},
        {"Float8", 1},
        {"complex<float>", 8},
        {"complex<double>", 16},
        {"double", 8},
        {"float", 4},
        {"long", 8},
        {"short", 2},
        {"int", 4},
        {"bool", 1},
        {"char", 1},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_has(type, types[i].word)) return types[i].bytes;
    return 0;
}

static enum precision precision_of(struct str type, struct str kernel)
{
    if (str_has(type, "BFloat16") || str_has(type, "Half")) return HALF;
    if (str_has(type, "Float8")) return FP8;
    if (str_has(type, "double")) return FP64;
    bool tf32 = str_has(kernel, "tf32") || str_has(kernel, "tensorop");
    return str_has(type, "float") ? (tf32 ? TF32 : FP32) : PRECISIONS;
}

double guess_attention_flops(const struct trace *t, row_t op)
{
    struct shape q, k;
    struct str name = trace_name(t, op);
    const struct op_info *info = trace_op(t, op);
    bool heads_first = str_starts(name, "aten::_scaled_dot_product_") ||
                       str_is(name, "aten::scaled_dot_product_attention");
    bool heads_last = str_has(name, "attention_forward");
    if ((!heads_first && !heads_last) || !info || info->dims == STR_NONE) return 0;
    struct str dims = trace_str(t, info->dims);
    if (!shape_read(dims, 0, &q) || !shape_read(dims, 1, &k) || q.rank != 4 || k.rank != 4)
        return 0;
    double keys = (double)(heads_first || str_has(name, "cudnn") ? k.dim[2] : k.dim[1]);
    return 4 * (double)shape_size(&q) * keys;
}

static bool multiplies(enum kernel_family f)
{
    return f == FAMILY_GEMM || f == FAMILY_CONV || f == FAMILY_ATTENTION;
}

/* Work of the innermost operator around the launch that has a formula; *ret_op is that operator. */
static double op_work(const struct trace *t, row_t op, row_t *ret_op)
{
    for (int up = 0; op != ROW_NONE && up < LEVELS_UP; op = t->parent[op], up++) {
        if (t->kind[op] != KIND_OP) continue;
        enum op_flops_kind kind = op_flops_kind(trace_name(t, op));
        double flops = guess_attention_flops(t, op);
        if (kind != FLOPS_NONE && kind != FLOPS_POINTWISE) flops = (double)op_flops(t, op, kind);
        if (flops > 0) {
            *ret_op = op;
            return flops;
        }
    }
    return NAN;
}

/* Elements of the output: of a matrix multiplication its rows and columns, else those of the
 * largest input. */
static double output_size(struct str dims, enum kernel_family family, double largest)
{
    struct shape a, b;
    if (family != FAMILY_GEMM || !shape_read(dims, 0, &a) || !shape_read(dims, 1, &b) || !a.rank ||
        !b.rank || !a.dim[a.rank - 1])
        return largest;
    return (double)shape_size(&a) / (double)a.dim[a.rank - 1] * (double)b.dim[b.rank - 1];
}

static double op_bytes(const struct trace *t, row_t op, enum kernel_family family)
{
    const struct op_info *info = op == ROW_NONE ? NULL : trace_op(t, op);
    if (!info || info->dims == STR_NONE || info->types == STR_NONE) return NAN;
    struct str dims = trace_str(t, info->dims), types = trace_str(t, info->types);
    double bytes = 0, largest = 0, each = 0;
    for (int i = 0; i < MOST_INPUTS; i++) {
        struct shape s;
        double size = bytes_of_type(shape_text(types, i));
        if (!shape_is_tensor(types, dims, i) || !shape_read(dims, i, &s) || size == 0) continue;
        double n = (double)shape_size(&s);
        bytes += n * size;
        if (n > largest) largest = n, each = size;
    }
    return bytes > 0 ? bytes + output_size(dims, family, largest) * each : NAN;
}

static struct str first_type(const struct trace *t, row_t op)
{
    const struct op_info *info = op == ROW_NONE ? NULL : trace_op(t, op);
    if (!info || info->types == STR_NONE) return str_c("");
    struct str types = trace_str(t, info->types);
    for (int i = 0; i < MOST_INPUTS; i++) {
        struct str type = shape_text(types, i);
        if (type.p && bytes_of_type(type) > 0) return type;
    }
    return str_c("");
}

static void guess_occupancy(const struct trace *t, const struct target *k, struct profile *p)
{
    struct gpu_info g = t->gpu[t->aux[k->row]];
    const struct device *d = occupancy_device(t, g.device);
    struct occupancy o;
    p->grid_blocks = (double)g.grid[0] * g.grid[1] * g.grid[2];
    if (!occupancy_of(d, &g, &o)) return;
    p->sms = d->n_sms;
    p->waves = p->grid_blocks / ((double)d->n_sms * o.blocks_per_sm);
    p->occupancy_pct = o.pct;
    p->occupancy_most_pct = o.theoretical_pct;
    g.grid[0] = g.grid[1] = g.grid[2] = UINT16_MAX; /* what would limit it with blocks enough */
    if (o.theoretical_pct < 99.5 && occupancy_of(d, &g, &o))
        p->occupancy_limit = occupancy_limit_name(o.limit);
}

void guess_profile(const struct trace *t, const struct op_links *links, const struct target *target,
                   struct profile *ret)
{
    struct profile p;
    profile_init(&p);
    p.time_ns = (double)target->row_ns; /* of the launch whose shapes are looked at */
    row_t op = links->owner[t->aux[target->row]], worker = op;
    if (multiplies(target->family)) p.flops = op_work(t, op, &worker);
    p.bytes = op_bytes(t, worker, target->family);
    p.main = precision_of(first_type(t, worker), target->name);
    bool narrow = p.main != FP32 && p.main != FP64 && p.main != PRECISIONS;
    p.tensor_used = multiplies(target->family) && narrow;
    p.tensor_known = str_has(target->name, "simt") || str_has(target->name, "sgemm");
    if (p.tensor_known) p.tensor_used = false; /* by its own name it does without */
    guess_occupancy(t, target, &p);
    double s = p.time_ns > 0 ? p.time_ns / 1e9 : NAN;
    p.flop_per_s = p.flops / s;
    p.bytes_per_s = p.bytes / s;
    p.flop_per_byte = p.flops / p.bytes;
    *ret = p;
}
