/* float32_products.c: float32 matrix multiplications and convolutions on units that are several
 * times slower than tensor cores: TF32 is switched off, or half-precision numbers were cast to
 * float32 on the way. */
#include <math.h>

#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/rules/rules.h"
#include "base/human.h"

struct found {
    struct kernel_fix fix;
    uint32_t n_half;     /* whose operator was given half-precision numbers */
    enum precision into; /* what it is priced in */
    double flops, flops_ns;
};

/* Attention on its math path is float32 inside; that belongs to another rule. */
static bool float32_products_is_ours(const struct context *cx, row_t r)
{
    const struct trace *t = cx->t;
    if (t->kind[r] != KIND_KERNEL) return false;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), t, r);
    if (!k->traits.plain_float || k->helper) return false;
    if (k->work.type != NUMBER_UNKNOWN && k->work.type != NUMBER_F32 &&
        !number_is_half(k->work.type))
        return false;
    return work_op_under(cx, r, "scaled_dot_product_attention").op == ROW_NONE;
}

static bool half_inputs(const struct context *cx, row_t kernel)
{
    struct work_op by = work_op_of(cx, kernel);
    const struct trace *t = by.t;
    for (row_t r = by.call == ROW_NONE || !by.same ? ROW_NONE : t->parent[by.call];
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

static int float32_products_collect(const struct context *cx, struct found *x, struct err *e)
{
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (!trace_is_work(cx->t, r) || !float32_products_is_ours(cx, r)) continue;
        bool half = half_inputs(cx, r);
        TRY(kernel_fix_add(&x->fix, cx, r, in_precision(cx, r, half ? HALF : x->into), e));
        x->n_half += half;
        double flops = roofline_row_flops(roofline_of(cx), cx->t, r);
        if (flops > 0) x->flops += flops, x->flops_ns += (double)cx->t->dur_ns[r];
    }
    return 0;
}

/* What any kernel takes in bf16: attention on the fast kernels, everything else with half the
 * bytes. */
static double in_bf16(const struct context *cx, row_t r)
{
    const struct roofline *f = roofline_of(cx);
    const struct roof_kind *k = roofline_kind(f, cx->t, r);
    double now = (double)cx->t->dur_ns[r], flops = roofline_row_flops(f, cx->t, r), then = now;
    if (k->traits.plain_float) return in_precision(cx, r, HALF);
    if ((k->work.type ? k->work.type : k->traits.type) != NUMBER_F32) return now;
    if (k->work.kind.class == OP_ATTENTION && flops > 0)
        then =
            flops / roofline_attention_rate(&f->ceilings, HALF, k->work.k, k->work.kind.backward);
    else if (k->family != FAMILY_COMMUNICATION) then = now / 2;
    return then < now ? then : now;
}

/* The whole program in bf16, beside TF32 for the products alone. */
static int float32_products_add_options(const struct context *cx, struct finding *f, struct err *e)
{
    struct kernel_fix all = {0};
    int rc = 0;
    for (row_t r = 0; r < cx->t->n_rows && rc == 0; r++)
        if (cx->t->kind[r] == KIND_KERNEL) rc = kernel_fix_add(&all, cx, r, in_bf16(cx, r), e);
    f->options[f->n_options++] =
        (struct finding_option){.name = "tf32",
                                .what = "TF32",
                                .note = "one flag; 10 bits of the mantissa are left",
                                .effort = EFFORT_ONE_LINE,
                                .edit = f->edits[0]};
    struct finding_option *o = &f->options[f->n_options];
    *o = (struct finding_option){.name = "bf16",
                                 .what = "bf16",
                                 .note = "weights and inputs, or autocast; 7 bits are left, the "
                                         "range stays",
                                 .effort = EFFORT_LOCAL};
    if (rc == 0) rc = kernel_fix_edit(&all, cx, &o->edit, e);
    if (rc == 0) f->n_options++;
    kernel_fix_done(&all);
    return rc;
}

static int float32_products_report(const struct context *cx, const struct found *x,
                                   struct findings *out, struct err *e);

static int float32_products_run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    bool tf32 = c->compute[TF32].from != CEILING_NONE;
    struct found x = {.fix = {.others = out}, .into = tf32 ? TF32 : HALF};
    if (isnan(c->compute[x.into].per_s) || isnan(c->compute[FP32].per_s)) return 0;
    int rc = float32_products_collect(cx, &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = float32_products_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_float32_products = {
    .id = "float32_products",
    .summary = "float32 matrix multiplications that do not use the tensor cores",
    .limit = LIMIT_GPU,
    .tries = "tf32",
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_slow_attention),
    .run = float32_products_run,
};

/* NVIDIA's GPUs before compute capability 8.0 multiply bf16 without tensor cores. */
static bool float32_products_wants_fp16(const struct context *cx)
{
    const struct trace *t = cx->t;
    return t->n_devices && t->devices[0].major > 0 && t->devices[0].major < 8;
}

static const char *float32_products_into(const struct context *cx, const struct found *x)
{
    bool fp16 = x->into == HALF && float32_products_wants_fp16(cx);
    return fp16 ? "fp16" : precision_name(x->into);
}

static const char *float32_products_why(const struct context *cx, const struct found *x)
{
    const char *rate =
        x->flops_ns > 0 ? rule_text(cx, " at %.0f TFLOP/s", x->flops / x->flops_ns / 1e3) : "";
    bool half = 2 * x->n_half > x->fix.n;
    const struct ceiling *c = &roofline_of(cx)->ceilings.compute[half ? HALF : x->into];
    if (half)
        return rule_text(
            cx,
            "%s matrix multiplications have bf16 or fp16 inputs but are computed in float32 "
            "without tensor cores%s, for %s; the tensor cores reach %.0f.",
            human_count(x->fix.n).s, rate, human_time(x->fix.before_ns).s, c->per_s / 1e12);
    return rule_text(
        cx,
        "%s matrix multiplications and convolutions in float32 run without tensor cores%s, "
        "for %s; in %s this GPU reaches %.0f TFLOP/s.",
        human_count(x->fix.n).s, rate, human_time(x->fix.before_ns).s, float32_products_into(cx, x),
        c->per_s / 1e12);
}

static int float32_products_report(const struct context *cx, const struct found *x,
                                   struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_float32_products, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    bool half = 2 * x->n_half > x->fix.n;
    f->effort = x->into == TF32 && !half ? EFFORT_ONE_LINE : EFFORT_LOCAL;
    f->title = half ? "half-precision inputs computed in float32" : "float32 without tensor cores";
    f->why = float32_products_why(cx, x);
    f->fix =
        half ? "Keep both inputs in half precision (no .float() before the matrix multiplication)."
        : x->into == TF32 ? "Allow TF32: torch.set_float32_matmul_precision(\"high\"), and "
                            "torch.backends.cudnn.allow_tf32 = True for convolutions. Autocast to "
                            "bf16, or bf16 weights, take half of that time and half of the "
                            "memory traffic."
        : float32_products_wants_fp16(cx)
            ? "Run it in fp16: autocast(dtype=torch.float16), with a GradScaler in training, or "
              "weights and inputs in fp16. This GPU has no tensor cores for bf16."
            : "Run it in bf16 or fp16: autocast, or weights and inputs in half precision.";
    f->not_fixed = "This changes numerics: TF32 keeps 10 bits of the mantissa, bf16 keeps 7. Check "
                   "the results before you rely on them.";
    f->show = "kernels %s --roof";
    if (x->into != TF32) f->tries = ""; /* no trial switches to fp16 */
    return x->into == TF32 && !half ? float32_products_add_options(cx, f, e) : 0;
}
