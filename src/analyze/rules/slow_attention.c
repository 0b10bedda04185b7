/* slow_attention.c: fused attention on less than it could: its inputs are float32, which the fast
 * kernels do not take, or a mask as large as the matrix of weights says only what is_causal=True
 * says, at twice the work. */
#include <math.h>

#include "analyze/rules/kernel_fix.h"
#include "base/human.h"

/* Kernels before an attention among which the making of its mask is looked for. */
#define REACH     12
#define LEAST_CUT 0.8
/* Sizes of triangles that are distinguished. */
#define MOST_SIZES 32

enum reason { REASON_FLOAT32, REASON_CAUSAL, REASONS };

struct found {
    struct kernel_fix fix[REASONS];
    uint32_t n[REASONS];
    double keys;
    double triangles[MOST_SIZES]; /* elements of the matrices that triangles are cut out of */
    uint32_t n_triangles;
};

static bool is_attention(const struct context *cx, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    return cx->t->kind[r] == KIND_KERNEL && k->from != ROOF_UNKNOWN && k->flops > 0 &&
           k->work.kind.class == OP_ATTENTION && k->family == FAMILY_ATTENTION;
}

/* Launched under an operator that cuts a triangle out of a matrix. */
static bool makes_triangle(const struct context *cx, row_t r)
{
    row_t op = roofline_owner(roofline_of(cx), cx->t, r);
    if (op == ROW_NONE) return false;
    struct str name = trace_name(cx->t, op);
    return str_has(name, "aten::triu") || str_has(name, "aten::tril");
}

static bool has_triangle(const struct found *x, double elements)
{
    for (uint32_t i = 0; i < x->n_triangles; i++)
        if (x->triangles[i] == elements) return true;
    return false;
}

static void find_triangles(const struct context *cx, struct found *x)
{
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (cx->t->kind[r] != KIND_KERNEL || !makes_triangle(cx, r)) continue;
        double elements = roofline_kind(roofline_of(cx), cx->t, r)->work.elements;
        if (x->n_triangles < MOST_SIZES && !has_triangle(x, elements))
            x->triangles[x->n_triangles++] = elements;
    }
}

/* As many queries as keys, and a mask: `head` times `keys` divide the elements of the queries. */
static bool is_square(const struct op_work *w)
{
    double heads = w->elements / (w->k * w->n);
    return w->masked && !w->causal && w->n > 1 && heads >= 1 && floor(heads) == heads;
}

static bool may_make_mask(const struct roof_kind *k)
{
    enum op_class c = k->work.kind.class;
    return c == OP_POINTWISE || c == OP_COPY || c == OP_FILL;
}

/* Kernels that make the mask: as many elements as it has, or as one triangle of it. */
static int drop_making(const struct context *cx, row_t attention, struct found *x, struct err *e)
{
    const struct trace *t = cx->t;
    const struct op_work *w = &roofline_kind(roofline_of(cx), t, attention)->work;
    row_t first = t->lanes[t->lane[attention]].begin;
    for (uint32_t i = 1; i <= REACH && attention - first >= i; i++) {
        row_t r = attention - i;
        if (!trace_is_work(t, r) || is_attention(cx, r)) return 0;
        const struct roof_kind *k = roofline_kind(roofline_of(cx), t, r);
        double triangles = k->work.elements / (w->n * w->n);
        if (k->family == FAMILY_MEMSET) continue;
        if (!may_make_mask(k) || !(triangles >= 1) || floor(triangles) != triangles) return 0;
        TRY(kernel_fix_add(&x->fix[REASON_CAUSAL], cx, r, 0, e));
    }
    return 0;
}

static double fused_ns(const struct context *cx, const struct op_work *w, double flops)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    return flops / roofline_attention_rate(c, HALF, w->k, w->kind.backward);
}

static int look_at(const struct context *cx, row_t r, struct found *x, struct err *e)
{
    const struct op_work *w = &roofline_kind(roofline_of(cx), cx->t, r)->work;
    double flops = roofline_row_flops(roofline_of(cx), cx->t, r), now = (double)cx->t->dur_ns[r];
    if (w->type == NUMBER_F32) {
        double ns = fused_ns(cx, w, flops);
        if (!(ns < LEAST_CUT * now)) return 0;
        x->n[REASON_FLOAT32]++;
        return kernel_fix_add(&x->fix[REASON_FLOAT32], cx, r, ns, e);
    }
    if (!is_square(w)) return 0;
    if (!has_triangle(x, w->n * w->n)) return 0;
    x->keys = w->n;
    x->n[REASON_CAUSAL]++;
    TRY(kernel_fix_add(&x->fix[REASON_CAUSAL], cx, r, fused_ns(cx, w, flops / 2), e));
    return drop_making(cx, r, x, e);
}

static int report(const struct context *cx, const struct found *x, enum reason why,
                  struct findings *out, struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {{.others = out}, {.others = out}}};
    int rc = 0;
    find_triangles(cx, &x);
    for (row_t r = 0; r < cx->t->n_rows && rc == 0; r++)
        if (trace_is_work(cx->t, r) && is_attention(cx, r)) rc = look_at(cx, r, &x, e);
    for (int i = 0; i < REASONS; i++) {
        if (rc == 0 && kernel_fix_pays(&x.fix[i], cx)) rc = report(cx, &x, i, out, e);
        kernel_fix_done(&x.fix[i]);
    }
    return rc;
}

const struct rule rule_slow_attention = {
    .id = "slow_attention",
    .summary = "fused attention in float32, or with a mask that only says it is causal",
    .run = run,
};

static int report(const struct context *cx, const struct found *x, enum reason why,
                  struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_slow_attention, e);
    if (!f) return ERR_NOMEM;
    const struct kernel_fix *fix = &x->fix[why];
    TRY(kernel_fix_into(fix, cx, out, f, e));
    f->show = "kernels %s --roof";
    if (why == REASON_FLOAT32) {
        f->title = "attention in float32 cannot use the fast kernels";
        f->why = rule_text(cx,
                           "%u fused attention kernels get float32 inputs and take %s; flash "
                           "attention and cuDNN only take bf16 and fp16.",
                           x->n[why], human_time(fix->before_ns).s);
        f->fix = "Give scaled_dot_product_attention bf16 or fp16 inputs (autocast, or a bf16 "
                 "model): it then uses flash attention.";
        f->not_fixed = "This changes numerics. TF32 does not help here: these kernels use it "
                       "already, or cannot.";
        return 0;
    }
    f->effort = EFFORT_ONE_LINE;
    f->title = "a causal mask is given to attention as a tensor";
    f->why = rule_text(
        cx,
        "%u attention kernels read a causal mask of %.0f x %.0f per head: the half that is "
        "masked out is computed as well, and the mask is made and read (%s in total).",
        x->n[why], x->keys, x->keys, human_time(fix->before_ns).s);
    f->fix = "Pass is_causal=True to scaled_dot_product_attention instead of the mask: flash "
             "attention then skips what is masked out.";
    f->not_fixed =
        "This is correct only if the mask is purely causal: check that it contains no padding.";
    return 0;
}
