/* odd_gemm.c: matrix multiplications far below what the GPU reaches because a dimension is not a
 * multiple of what one load takes: 16 bytes, so 8 half-precision numbers. They run on kernels for
 * any alignment. */
#include <math.h>

#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/ops/op_strides.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* Others tell about products within this power of two of their operations. */
#define SIZES 64
/* Shapes whose strides are read from the file, which takes a while. */
#define MOST_ASKED 64
/* What an aligned kernel takes of the time of one that loads single numbers, as measured. */

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

static double odd_gemm_pad(double v, double unit)
{
    return ceil(v / unit) * unit;
}

static bool is_odd(const struct op_work *w)
{
    double u = unit_of(w);
    return odd_gemm_pad(w->m, u) != w->m || odd_gemm_pad(w->n, u) != w->n ||
           odd_gemm_pad(w->k, u) != w->k;
}

static bool odd_gemm_is_ours(const struct context *cx, row_t r)
{
    if (cx->t->kind[r] != KIND_KERNEL) return false;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    return k->work.kind.class == OP_PRODUCT && !k->helper && k->flops > 0 && k->roof_ns > 0 &&
           k->precision != FP32 && k->precision != FP64 && !k->traits.plain_float;
}

/* Share of the device that tiles of such a product keep busy. */
static double odd_gemm_fill_of(const struct context *cx, const struct op_work *w)
{
    double sms = roofline_of(cx)->ceilings.n_sms, tiles = roofline_tiles(w);
    return sms > 0 ? tiles / (ceil(tiles / sms) * sms) : 1;
}

/* Aligned products by precision and size, the size as a power of two: their time, and at the roof.
 */
struct reached {
    double ns[PRECISIONS][SIZES], roof[PRECISIONS][SIZES];
};

static int odd_gemm_size_of(double flops)
{
    int e = 0;
    frexp(flops, &e);
    return e < 0 ? 0 : e >= SIZES ? SIZES - 1 : e;
}

static void look_at_aligned(const struct context *cx, struct reached *ret)
{
    const struct roofline *f = roofline_of(cx);
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (!trace_is_work(cx->t, r) || !odd_gemm_is_ours(cx, r)) continue;
        const struct roof_kind *k = roofline_kind(f, cx->t, r);
        if (is_odd(&k->work) || k->precision >= PRECISIONS) continue;
        ret->ns[k->precision][odd_gemm_size_of(k->flops)] += (double)cx->t->dur_ns[r];
        ret->roof[k->precision][odd_gemm_size_of(k->flops)] += roofline_row_ns(f, cx->t, r);
    }
}

/* What those of about this size reach of the roof in this trace. */
static double reached_nearby(const struct context *cx, const struct reached *all,
                             const struct roof_kind *like)
{
    double ns = 0, roof = 0;
    for (int s = odd_gemm_size_of(like->flops) - odd_gemm_nearby_powers;
         s <= odd_gemm_size_of(like->flops) + odd_gemm_nearby_powers; s++) {
        if (s < 0 || s >= SIZES || like->precision >= PRECISIONS) continue;
        ns += all->ns[like->precision][s];
        roof += all->roof[like->precision][s];
    }
    return ns > 0 ? roof / ns : odd_gemm_usual_share * odd_gemm_fill_of(cx, &like->work);
}

static double padded_ns(const struct context *cx, const struct reached *all,
                        const struct roof_kind *k)
{
    const struct op_work *w = &k->work;
    double u = unit_of(w);
    double grown = odd_gemm_pad(w->m, u) / w->m * (odd_gemm_pad(w->n, u) / w->n) *
                   (odd_gemm_pad(w->k, u) / w->k);
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
    struct work_op by = work_op_of(cx, r);
    if (odd_gemm_pad(w->n, u) != w->n) return true;
    enum op_alignment a = ALIGNMENT_UNKNOWN;
    if (work_op_info(by) && x->n_asked++ < MOST_ASKED) a = op_alignment(by.t, by.op, (int64_t)u);
    return a == MISALIGNED || (a == ALIGNMENT_UNKNOWN && odd_gemm_pad(w->k, u) != w->k);
}

/* How long kernels of that kind take with their dimensions padded; INFINITY when nothing is odd. */
static double odd_gemm_price(const struct context *cx, row_t r, const struct reached *all,
                             struct found *x)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    double ns = is_odd(&k->work) ? padded_ns(cx, all, k) : INFINITY;
    return ns < odd_gemm_cut_share * (double)cx->t->dur_ns[r] && lies_oddly(cx, r, x) ? ns
                                                                                      : INFINITY;
}

static int odd_gemm_look_at(const struct context *cx, row_t r, double ns, struct found *x,
                            struct err *e)
{
    const struct op_work *w = &roofline_kind(roofline_of(cx), cx->t, r)->work;
    if (!(ns < odd_gemm_cut_share * (double)cx->t->dur_ns[r])) return 0;
    TRY(kernel_fix_add(&x->fix, cx, r, ns, e));
    if (cx->t->dur_ns[r] <= x->longest_ns) return 0;
    x->longest_ns = cx->t->dur_ns[r];
    x->m = w->m, x->n = w->n, x->k = w->k;
    x->unit = unit_of(w);
    return 0;
}

static int odd_gemm_collect(const struct context *cx, struct found *x, struct err *e)
{
    const struct roofline *f = roofline_of(cx);
    double *prices = arena_alloc(cx->mem, (f->n_kinds + (size_t)1) * sizeof *prices);
    struct reached *all = arena_zalloc(cx->mem, 1, sizeof *all);
    if (!prices || !all) return err_nomem(e);
    for (uint32_t i = 0; i < f->n_kinds; i++) prices[i] = NAN;
    look_at_aligned(cx, all);
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (!trace_is_work(cx->t, r) || cx->t->dur_ns[r] < odd_gemm_ns) continue;
        if (named_odd(cx, r))
            TRY(kernel_fix_add(&x->fix, cx, r, odd_gemm_named_share * (double)cx->t->dur_ns[r], e));
        if (!odd_gemm_is_ours(cx, r)) continue;
        double *ns = &prices[f->kind_of[roofline_slot(cx->t, r)]];
        if (isnan(*ns)) *ns = odd_gemm_price(cx, r, all, x);
        TRY(odd_gemm_look_at(cx, r, *ns, x, e));
    }
    return 0;
}

static int odd_gemm_report(const struct context *cx, const struct found *x, struct findings *out,
                           struct err *e);

static int odd_gemm_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = odd_gemm_collect(cx, &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = odd_gemm_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_odd_gemm = {
    .id = "odd_gemm",
    .summary = "matrix multiplications slowed down by a dimension that is not a multiple of 8",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_float32_products),
    .run = odd_gemm_run,
};

static int odd_gemm_report(const struct context *cx, const struct found *x, struct findings *out,
                           struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_odd_gemm, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    f->title = "misaligned matrix dimensions";
    f->effort = EFFORT_LOCAL;
    f->not_fixed = "Padding at every call costs a copy. The prediction uses what aligned ones of "
                   "this size reach.";
    f->show = "kernels %s --roof --filter gemm";
    if (!x->longest_ns) {
        f->why = rule_text(cx,
                           "%s matrix multiplication%s run%s on kernels that load single numbers "
                           "(%s): a dimension is not a multiple of 8.",
                           human_count(x->fix.n).s, x->fix.n == 1 ? "" : "s",
                           x->fix.n == 1 ? "s" : "", human_time(x->fix.before_ns).s);
        f->fix = rule_text(cx,
                           "Pad the dimensions with zeros to a multiple of 8 (better 64), once, "
                           "where weights and inputs are created; %s shows which ones.",
                           trace_meta(cx->t, TRACE_META_RECORDED).p ? "strata run --depth 2"
                                                                    : "record_shapes=True");
        return 0;
    }
    double odd = odd_gemm_pad(x->k, x->unit) != x->k   ? x->k
                 : odd_gemm_pad(x->n, x->unit) != x->n ? x->n
                                                       : x->m;
    f->why = rule_text(
        cx,
        "%s matrix multiplication%s (%s) %s a dimension that is not a multiple of %.0f, such as "
        "%.0f x %.0f x %.0f: they run on kernels that load single numbers.",
        human_count(x->fix.n).s, x->fix.n == 1 ? "" : "s", human_time(x->fix.before_ns).s,
        x->fix.n == 1 ? "has" : "have", x->unit, x->m, x->n, x->k);
    f->fix =
        rule_text(cx,
                  "Pad the dimensions with zeros to a multiple of %.0f (better 64), once, where "
                  "weights and inputs are created: %.0f becomes %.0f.",
                  x->unit, odd, odd_gemm_pad(odd, x->unit));
    return 0;
}
