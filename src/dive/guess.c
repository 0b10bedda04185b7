/* guess.c: see dive_private.h. */
#include "dive/dive_private.h"

#include <math.h>

#include "analyze/kernels/occupancy.h"
#include "analyze/ops/op_work.h"

enum { LEVELS_UP = 8 };

static bool guess_multiplies(enum kernel_family f)
{
    return f == FAMILY_GEMM || f == FAMILY_CONV || f == FAMILY_ATTENTION;
}

/* Work of the innermost operator around the launch whose shapes say what it multiplies. */
static bool product_around(const struct trace *t, row_t op, struct op_work *ret)
{
    for (int up = 0; op != ROW_NONE && up < LEVELS_UP; op = t->parent[op], up++)
        if (t->kind[op] == KIND_OP && op_work_of(t, op, ret) && ret->flops > 0) return true;
    return false;
}

/* What goes in and comes out, of a list too where its type is known. */
static double guess_bytes_of(const struct op_work *w)
{
    double bytes = w->read + w->written + w->untyped * number_bytes(w->type);
    return bytes > 0 ? bytes : NAN;
}

static enum precision guess_precision_of(enum number_type type, struct str kernel)
{
    switch (type) {
    case NUMBER_F64: return FP64;
    case NUMBER_F32: return str_has(kernel, "tf32") || str_has(kernel, "tensorop") ? TF32 : FP32;
    case NUMBER_F16:
    case NUMBER_BF16: return HALF;
    case NUMBER_F8: return FP8;
    default: return PRECISIONS;
    }
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
    p.time_ns = (double)target->row_ns; /* of the launch whose shapes are examined */
    row_t op = links->owner[t->aux[target->row]];
    struct op_work w = {0}, around;
    bool known = op != ROW_NONE && op_work_of(t, op, &w);
    if (guess_multiplies(target->family) && product_around(t, op, &around)) {
        w = around;
        p.flops = w.flops;
        known = true;
    }
    if (known) p.bytes = guess_bytes_of(&w);
    p.main = guess_precision_of(w.type, target->name);
    bool narrow = p.main != FP32 && p.main != FP64 && p.main != PRECISIONS;
    p.tensor_used = guess_multiplies(target->family) && narrow;
    p.tensor_known = str_has(target->name, "simt") || str_has(target->name, "sgemm");
    if (p.tensor_known) p.tensor_used = false; /* by its own name it does without */
    guess_occupancy(t, target, &p);
    double s = p.time_ns > 0 ? p.time_ns / 1e9 : NAN;
    p.flop_per_s = p.flops / s;
    p.bytes_per_s = p.bytes / s;
    p.flop_per_byte = p.flops / p.bytes;
    *ret = p;
}
