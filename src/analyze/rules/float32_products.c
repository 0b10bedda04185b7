/* float32_products.c: matrix products and convolutions of float32 numbers on units that are several
 * times slower than tensor cores: TF32 is switched off, or half-precision numbers were made float32
 * on the way. */
#include <math.h>

#include "analyze/rules/kernel_fix.h"
#include "base/human.h"

struct found {
    struct kernel_fix fix;
    uint32_t n_half;     /* whose operator was given half-precision numbers */
    double bf16_ns;      /* the same in bf16 */
    enum precision into; /* what it is priced in */
    double flops, flops_ns;
};

/* Attention on its math path is float32 inside; that is another rule's business. */
static bool is_ours(const struct context *cx, row_t r)
{
    const struct trace *t = cx->t;
    if (t->kind[r] != KIND_KERNEL) return false;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), t, r);
    if (!k->traits.plain_float || k->helper) return false;
    if (k->work.type != NUMBER_UNKNOWN && k->work.type != NUMBER_F32 &&
        !number_is_half(k->work.type))
        return false;
    return kernel_under(cx, r, "scaled_dot_product_attention") == ROW_NONE;
}

static bool half_inputs(const struct trace *t, row_t kernel)
{
    row_t call = trace_launch_of(t, kernel);
    for (row_t r = call == ROW_NONE ? ROW_NONE : t->parent[call];
         r != ROW_NONE && t->kind[r] == KIND_OP; r = t->parent[r]) {
        const struct op_info *op = trace_op(t, r);
        struct str types = op && op->types != STR_NONE ? trace_str(t, op->types) : str_c("");
        if (str_has(types, "Half") || str_has(types, "BFloat16")) return true;
    }
    return false;
}

/* In another precision, as far from its roof as it is now; bytes shrink with the numbers. */
static double in_precision(const struct context *cx, row_t r, enum precision p)
{
    const struct roofline *f = roofline_of(cx);
    const struct ceilings *c = &f->ceilings;
    double now = (double)cx->t->dur_ns[r], roof = roofline_row_ns(f, cx->t, r);
    double flops = roofline_row_flops(f, cx->t, r), bytes = roofline_row_bytes(f, cx->t, r);
    double slower = c->compute[FP32].per_s / c->compute[p].per_s;
    if (!(flops > 0) || !(roof > 0)) return now * slower;
    double reached = roof / now, then = roofline_ns(c, p, flops, p == HALF ? bytes / 2 : bytes);
    then /= reached > 0 ? reached : 1;
    return then < now ? then : now;
}

static int collect(const struct context *cx, struct found *x, struct err *e)
{
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (!trace_is_work(cx->t, r) || !is_ours(cx, r)) continue;
        bool half = half_inputs(cx->t, r);
        TRY(kernel_fix_add(&x->fix, cx, r, in_precision(cx, r, half ? HALF : x->into), e));
        x->n_half += half;
        x->bf16_ns += in_precision(cx, r, HALF);
        double flops = roofline_row_flops(roofline_of(cx), cx->t, r);
        if (flops > 0) x->flops += flops, x->flops_ns += (double)cx->t->dur_ns[r];
    }
    return 0;
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    bool tf32 = c->compute[TF32].from != CEILING_NONE;
    struct found x = {.into = tf32 ? TF32 : HALF};
    if (isnan(c->compute[x.into].per_s) || isnan(c->compute[FP32].per_s)) return 0;
    int rc = collect(cx, &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_float32_products = {
    .id = "float32_products",
    .summary = "float32 matrix products and convolutions that do not use the tensor cores",
    .run = run,
};

static const char *why(const struct context *cx, const struct found *x)
{
    const char *rate =
        x->flops_ns > 0 ? rule_text(cx, " at %.0f TFLOP/s", x->flops / x->flops_ns / 1e3) : "";
    bool half = 2 * x->n_half > x->fix.n;
    const struct ceiling *c = &roofline_of(cx)->ceilings.compute[half ? HALF : x->into];
    if (half)
        return rule_text(cx,
                         "%u products have bf16 or fp16 inputs but are computed in float32 without "
                         "tensor cores%s, for %s; the tensor cores reach %.0f.",
                         x->fix.n, rate, human_time(x->fix.before_ns).s, c->per_s / 1e12);
    return rule_text(cx,
                     "%u products and convolutions of float32 numbers run without tensor cores%s, "
                     "for %s; in %s this GPU reaches %.0f TFLOP/s.",
                     x->fix.n, rate, human_time(x->fix.before_ns).s, precision_name(x->into),
                     c->per_s / 1e12);
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_float32_products, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    bool half = 2 * x->n_half > x->fix.n;
    f->title = half ? "half-precision products computed in float32"
                    : "float32 products off the tensor cores";
    f->why = why(cx, x);
    f->fix = half ? "Keep both inputs in half precision (no .float() before the product)."
             : x->into == TF32
                 ? "Allow TF32: torch.set_float32_matmul_precision(\"high\") (and "
                   "torch.backends.cudnn.allow_tf32 = True), one line. bf16 (autocast "
                   "or bf16 weights) is about twice as fast again and halves the "
                   "memory traffic."
                 : "Run it in bf16 or fp16: autocast, or weights and inputs in half "
                   "precision.";
    f->not_fixed = "This changes numerics: TF32 keeps 10 bits of the mantissa, bf16 keeps 7. Check "
                   "the results before you rely on them.";
    f->show = "kernels %s --roof";
    if (x->into == TF32 && !half)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "in TF32 they would take %s, in bf16 %s",
                     human_time(x->fix.after_ns).s, human_time((int64_t)x->bf16_ns).s);
    return 0;
}
