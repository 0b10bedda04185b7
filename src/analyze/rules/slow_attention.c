/* slow_attention.c: fused attention on less than it could: its inputs are float32, which the fast
 * kernels do not take, or a mask as large as the matrix of weights says only what is_causal=True
 * says, at twice the work, or which sequences are padded, and flash attention takes no mask. */
#include <math.h>

#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/ops/op_strides.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* Sizes of triangles, and shapes of masks, that are distinguished. */
#define MOST_SIZES 32

enum reason { REASON_FLOAT32, REASON_CAUSAL, REASON_PADDING, REASONS };

struct found {
    struct kernel_fix fix[REASONS];
    uint32_t n[REASONS];
    double keys;
    double triangles[MOST_SIZES]; /* elements of the matrices that triangles are cut out of */
    uint32_t n_triangles;
    struct {
        const struct trace *in;
        str_id dims; /* of the inputs of scaled_dot_product_attention */
        bool padding;
    } masks[MOST_SIZES];
    uint32_t n_masks;
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
    struct str name = work_op_name(work_op_of(cx, r));
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

/* Whether the mask is the same for all queries, as one of padding is. Read once per shape. */
static bool slow_attention_hides_padding(const struct context *cx, row_t r, struct found *x)
{
    const struct op_work *w = &roofline_kind(roofline_of(cx), cx->t, r)->work;
    if (!w->masked || w->causal || !(w->n > 1)) return false;
    struct work_op by = work_op_under(cx, r, "aten::scaled_dot_product_attention");
    const struct op_info *info = work_op_info(by);
    if (!info) return false;
    for (uint32_t i = 0; i < x->n_masks; i++)
        if (x->masks[i].in == by.t && x->masks[i].dims == info->dims) return x->masks[i].padding;
    if (x->n_masks == MOST_SIZES) return false;
    x->masks[x->n_masks].in = by.t;
    x->masks[x->n_masks].dims = info->dims;
    x->masks[x->n_masks].padding = op_masks_padding(by.t, by.op);
    return x->masks[x->n_masks++].padding;
}

/* Kernels that make the mask: as many elements as it has, or as one triangle of it. */
static int drop_making(const struct context *cx, row_t attention, enum reason why, struct found *x,
                       struct err *e)
{
    const struct trace *t = cx->t;
    const struct op_work *w = &roofline_kind(roofline_of(cx), t, attention)->work;
    row_t first = t->lanes[t->lane[attention]].begin;
    for (uint32_t i = 1; i <= slow_attention_reach_kernels && attention - first >= i; i++) {
        row_t r = attention - i;
        if (!trace_is_work(t, r) || is_attention(cx, r)) return 0;
        const struct roof_kind *k = roofline_kind(roofline_of(cx), t, r);
        double triangles = k->work.elements / (w->n * w->n);
        if (k->family == FAMILY_MEMSET) continue;
        if (!may_make_mask(k) || !(triangles >= 1) || floor(triangles) != triangles) return 0;
        TRY(kernel_fix_add(&x->fix[why], cx, r, 0, e));
    }
    return 0;
}

static double slow_attention_fused_ns(const struct context *cx, const struct op_work *w,
                                      double flops)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    return flops / roofline_attention_rate(c, HALF, w->k, w->kind.backward);
}

static int slow_attention_look_at(const struct context *cx, row_t r, struct found *x, struct err *e)
{
    const struct op_work *w = &roofline_kind(roofline_of(cx), cx->t, r)->work;
    double flops = roofline_row_flops(roofline_of(cx), cx->t, r), now = (double)cx->t->dur_ns[r];
    if (w->type == NUMBER_F32) {
        double ns = slow_attention_fused_ns(cx, w, flops);
        if (!(ns < slow_attention_cut_share * now)) return 0;
        x->n[REASON_FLOAT32]++;
        return kernel_fix_add(&x->fix[REASON_FLOAT32], cx, r, ns, e);
    }
    bool triangle = is_square(w) && has_triangle(x, w->n * w->n);
    if (!triangle && !slow_attention_hides_padding(cx, r, x)) return 0;
    enum reason why = triangle ? REASON_CAUSAL : REASON_PADDING;
    double ns = slow_attention_fused_ns(cx, w, triangle ? flops / 2 : flops);
    x->keys = w->n;
    x->n[why]++;
    TRY(kernel_fix_add(&x->fix[why], cx, r, ns < now ? ns : now, e));
    return drop_making(cx, r, why, x, e);
}

static int slow_attention_report(const struct context *cx, const struct found *x, enum reason why,
                                 struct findings *out, struct err *e);

static int slow_attention_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {{.others = out}, {.others = out}, {.others = out}}};
    int rc = 0;
    find_triangles(cx, &x);
    for (row_t r = 0; r < cx->t->n_rows && rc == 0; r++)
        if (trace_is_work(cx->t, r) && is_attention(cx, r))
            rc = slow_attention_look_at(cx, r, &x, e);
    for (int i = 0; i < REASONS; i++) {
        if (rc == 0 && kernel_fix_pays(&x.fix[i], cx))
            rc = slow_attention_report(cx, &x, i, out, e);
        kernel_fix_done(&x.fix[i]);
    }
    return rc;
}

const struct rule rule_slow_attention = {
    .id = "slow_attention",
    .summary = "fused attention in float32, or with a mask that says less than its size",
    .limit = LIMIT_GPU,
    .tries = "attention:flash",
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_unfused_attention),
    .run = slow_attention_run,
};

static int slow_attention_report(const struct context *cx, const struct found *x, enum reason why,
                                 struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_slow_attention, e);
    if (!f) return ERR_NOMEM;
    const struct kernel_fix *fix = &x->fix[why];
    TRY(kernel_fix_into(fix, cx, f, e));
    f->show = "kernels %s --roof";
    if (why == REASON_FLOAT32) {
        f->title = "attention in float32";
        f->why = rule_text(cx,
                           "%s fused attention kernels get float32 inputs and take %s; flash "
                           "attention and cuDNN only take bf16 and fp16.",
                           human_count(x->n[why]).s, human_time(fix->before_ns).s);
        f->fix = "Give scaled_dot_product_attention bf16 or fp16 inputs (autocast, or a bf16 "
                 "model): it then uses flash attention.";
        f->not_fixed = "This changes numerics. TF32 does not help here: these kernels use it "
                       "already, or cannot.";
        return 0;
    }
    f->effort = EFFORT_ONE_LINE;
    if (why == REASON_PADDING) {
        f->title = "a mask for padding keeps flash attention away";
        f->tries = "no_mask";
        f->why = rule_text(cx,
                           "%s attention kernels get a mask that is the same for all queries, so "
                           "all it can hide is padding; flash attention takes no mask, so slower "
                           "kernels run, and read it for every query (%s in total).",
                           human_count(x->n[why]).s, human_time(fix->before_ns).s);
        f->fix = "Pass no mask (attn_mask=None, no attention_mask) where no sequence of the batch "
                 "is padded. Where some are, pack them without padding: nested tensors, "
                 "flash_attn_varlen_func, or batches of equal lengths.";
        f->not_fixed = "Without the mask, sequences that are padded get other results.";
        return 0;
    }
    f->title = "a causal mask is passed as a tensor";
    f->why = rule_text(
        cx,
        "%s attention kernels read a causal mask of %.0f x %.0f per head: the half that is "
        "masked out is computed as well, and the mask is made and read (%s in total).",
        human_count(x->n[why]).s, x->keys, x->keys, human_time(fix->before_ns).s);
    f->fix = "Pass is_causal=True to scaled_dot_product_attention instead of the mask: flash "
             "attention then skips what is masked out.";
    f->not_fixed =
        "This is correct only if the mask is purely causal: check that it contains no padding.";
    return 0;
}
