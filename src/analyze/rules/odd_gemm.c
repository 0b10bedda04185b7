/* odd_gemm.c: matrix multiplications far below what the GPU reaches because a dimension is not a
 * multiple of what one load takes: 16 bytes, so 8 half-precision numbers. They run on kernels for
 * any alignment. */
#include <math.h>

#include "analyze/ops/op_strides.h"
#include "analyze/rules/kernel_fix.h"
#include "base/human.h"

/* What is aligned takes at most this share of the time, or it is not the alignment. */
#define LEAST_CUT 0.67
/* Shorter products are bound by other things. */
#define LEAST_NS 8000
/* What products reach of the roof where the trace has no others to tell. */
#define USUAL 0.93
/* Others tell about products within this power of two of their operations. */
#define NEARBY 2
#define SIZES  64
/* Shapes whose strides are read from the file, which takes a while. */
#define MOST_ASKED 64
/* What an aligned kernel takes of the time of one that loads single numbers, as measured. */
#define NAMED_SHARE 0.25
#define TILE        128.0
#define SMS         108.0

struct found {
    struct kernel_fix fix;
    double m, n, k; /* of the longest */
    int64_t longest_ns;
    double unit;
    uint32_t n_asked;
};

/* Numbers that 16 bytes hold. */
static double unit_of(const struct op_work *w)
{
    double bytes = number_bytes(w->type);
    return bytes > 0 ? 16 / bytes : 1;
}

static double pad(double v, double unit)
{
    return ceil(v / unit) * unit;
}

static bool is_odd(const struct op_work *w)
{
    double u = unit_of(w);
    return pad(w->m, u) != w->m || pad(w->n, u) != w->n || pad(w->k, u) != w->k;
}

static bool is_ours(const struct context *cx, row_t r)
{
    if (cx->t->kind[r] != KIND_KERNEL) return false;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    return k->work.kind.class == OP_PRODUCT && !k->helper && k->flops > 0 && k->roof_ns > 0 &&
           k->precision != FP32 && k->precision != FP64 && !k->traits.plain_float;
}

/* Share of the device that tiles of such a product keep busy. */
static double fill_of(const struct context *cx, const struct op_work *w)
{
    double sms = cx->t->n_devices && cx->t->devices[0].n_sms > 0 ? cx->t->devices[0].n_sms : SMS;
    double tiles = ceil(w->m / TILE) * ceil(w->n / TILE) * w->batch;
    return tiles / (ceil(tiles / sms) * sms);
}

/* Aligned products by precision and size, the size as a power of two: their time, and at the roof.
 */
struct reached {
    double ns[PRECISIONS][SIZES], roof[PRECISIONS][SIZES];
};

static int size_of(double flops)
{
    int e = 0;
    frexp(flops, &e);
    return e < 0 ? 0 : e >= SIZES ? SIZES - 1 : e;
}

static void look_at_aligned(const struct context *cx, struct reached *ret)
{
    const struct roofline *f = roofline_of(cx);
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (!trace_is_work(cx->t, r) || !is_ours(cx, r)) continue;
        const struct roof_kind *k = roofline_kind(f, cx->t, r);
        if (is_odd(&k->work) || k->precision >= PRECISIONS) continue;
        ret->ns[k->precision][size_of(k->flops)] += (double)cx->t->dur_ns[r];
        ret->roof[k->precision][size_of(k->flops)] += roofline_row_ns(f, cx->t, r);
    }
}

/* What those of about this size reach of the roof in this trace. */
static double reached_nearby(const struct context *cx, const struct reached *all,
                             const struct roof_kind *like)
{
    double ns = 0, roof = 0;
    for (int s = size_of(like->flops) - NEARBY; s <= size_of(like->flops) + NEARBY; s++) {
        if (s < 0 || s >= SIZES || like->precision >= PRECISIONS) continue;
        ns += all->ns[like->precision][s];
        roof += all->roof[like->precision][s];
    }
    return ns > 0 ? roof / ns : USUAL * fill_of(cx, &like->work);
}

static double padded_ns(const struct context *cx, const struct reached *all,
                        const struct roof_kind *k)
{
    const struct op_work *w = &k->work;
    double u = unit_of(w);
    double grown = pad(w->m, u) / w->m * (pad(w->n, u) / w->n) * (pad(w->k, u) / w->k);
    return k->roof_ns * grown / reached_nearby(cx, all, k);
}

/* Without shapes: kernels of CUTLASS that load single numbers say so, and are used for nothing
 * else. */
static bool named_odd(const struct context *cx, row_t r)
{
    if (cx->t->kind[r] != KIND_KERNEL) return false;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    struct str name = trace_name(cx->t, r);
    return k->from == ROOF_UNKNOWN && k->work.kind.class != OP_CONVOLUTION &&
           str_has(name, "tensorop") && str_has(name, "gemm") && str_has(name, "_align1>");
}

/* Whether it is memory that is misaligned: rows of an input, or of the result, which is as wide as
 * n. A dimension that no row is as long as may be what it likes. */
static bool lies_oddly(const struct context *cx, row_t r, struct found *x)
{
    const struct op_work *w = &roofline_kind(roofline_of(cx), cx->t, r)->work;
    double u = unit_of(w);
    row_t op = roofline_owner(roofline_of(cx), cx->t, r);
    if (pad(w->n, u) != w->n) return true;
    enum op_alignment a = ALIGNMENT_UNKNOWN;
    if (op != ROW_NONE && x->n_asked++ < MOST_ASKED) a = op_alignment(cx->t, op, (int64_t)u);
    return a == MISALIGNED || (a == ALIGNMENT_UNKNOWN && pad(w->k, u) != w->k);
}

/* How long kernels of that kind take with their dimensions padded; INFINITY when nothing is odd. */
static double price(const struct context *cx, row_t r, const struct reached *all, struct found *x)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    double ns = is_odd(&k->work) ? padded_ns(cx, all, k) : INFINITY;
    return ns < LEAST_CUT * (double)cx->t->dur_ns[r] && lies_oddly(cx, r, x) ? ns : INFINITY;
}

static int look_at(const struct context *cx, row_t r, double ns, struct found *x, struct err *e)
{
    const struct op_work *w = &roofline_kind(roofline_of(cx), cx->t, r)->work;
    if (!(ns < LEAST_CUT * (double)cx->t->dur_ns[r])) return 0;
    TRY(kernel_fix_add(&x->fix, cx, r, ns, e));
    if (cx->t->dur_ns[r] <= x->longest_ns) return 0;
    x->longest_ns = cx->t->dur_ns[r];
    x->m = w->m, x->n = w->n, x->k = w->k;
    x->unit = unit_of(w);
    return 0;
}

static int collect(const struct context *cx, struct found *x, struct err *e)
{
    const struct roofline *f = roofline_of(cx);
    double *prices = arena_alloc(cx->mem, (f->n_kinds + (size_t)1) * sizeof *prices);
    struct reached *all = arena_zalloc(cx->mem, 1, sizeof *all);
    if (!prices || !all) return err_nomem(e);
    for (uint32_t i = 0; i < f->n_kinds; i++) prices[i] = NAN;
    look_at_aligned(cx, all);
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (!trace_is_work(cx->t, r) || cx->t->dur_ns[r] < LEAST_NS) continue;
        if (named_odd(cx, r))
            TRY(kernel_fix_add(&x->fix, cx, r, NAMED_SHARE * (double)cx->t->dur_ns[r], e));
        if (!is_ours(cx, r)) continue;
        double *ns = &prices[f->kind_of[roofline_slot(cx->t, r)]];
        if (isnan(*ns)) *ns = price(cx, r, all, x);
        TRY(look_at(cx, r, *ns, x, e));
    }
    return 0;
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = collect(cx, &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_odd_gemm = {
    .id = "odd_gemm",
    .summary = "matrix multiplications slowed down by a dimension that is not a multiple of 8",
    .run = run,
};

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_odd_gemm, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, out, f, e));
    f->title = "matrix multiplications with misaligned dimensions";
    f->effort = EFFORT_LOCAL;
    f->not_fixed = "Padding at every call costs a copy. The prediction uses what aligned ones of "
                   "this size reach.";
    f->show = "kernels %s --roof --filter gemm";
    if (!x->longest_ns) {
        f->why = rule_text(cx,
                           "%u matrix multiplications run on kernels that load single numbers "
                           "(%s): a dimension is "
                           "not a multiple of 8.",
                           x->fix.n, human_time(x->fix.before_ns).s);
        f->fix =
            "Pad the dimensions with zeros to a multiple of 8 (better 64), once, where weights "
            "and inputs are created; record_shapes=True shows which ones.";
        return 0;
    }
    double odd = pad(x->k, x->unit) != x->k ? x->k : pad(x->n, x->unit) != x->n ? x->n : x->m;
    f->why = rule_text(
        cx,
        "%u matrix multiplications (%s) have a dimension that is not a multiple of %.0f, such as "
        "%.0f x %.0f x %.0f: they run on kernels that load single numbers.",
        x->fix.n, human_time(x->fix.before_ns).s, x->unit, x->m, x->n, x->k);
    f->fix =
        rule_text(cx,
                  "Pad the dimensions with zeros to a multiple of %.0f (better 64), once, where "
                  "weights and inputs are created: %.0f becomes %.0f.",
                  x->unit, odd, pad(odd, x->unit));
    return 0;
}
