/* unfused_attention.c: attention as two batched products with a softmax between them, by hand or on
 * the math path of scaled_dot_product_attention: the matrix of weights, one number for each query
 * and key, is written and read again by every kernel. A fused kernel never writes it. */
#include <math.h>

#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* One attention on the device. */
struct attention {
    row_t begin, end;            /* rows of the stream it lies in, end not included */
    double flops, head, weights; /* weights: elements of the matrix; 0 when not known */
    enum precision precision;
    bool backward;
    bool math; /* the math path of scaled_dot_product_attention */
};

struct found {
    struct kernel_fix fix;
    struct attention_calls calls;
    uint32_t n, n_math;
    double weights; /* of the largest */
    int64_t softmax_ns;
    row_t example;
};

static bool is_product(const struct roof_kind *k)
{
    bool product = k->work.kind.class == OP_PRODUCT || k->family == FAMILY_GEMM;
    return product && !k->helper && k->family != FAMILY_MEMSET;
}

static bool unfused_attention_about(double a, double b)
{
    return fabs(a - b) <= unfused_attention_about_share * b;
}

struct walk {
    const struct context *cx;
    row_t first, last; /* of the stream */
    double weights;
    bool backward;
};

static bool unfused_attention_makes(const struct roof_kind *k, double weights)
{
    return unfused_attention_about(k->work.elements, weights);
}

static bool unfused_attention_takes(const struct roof_kind *k, double weights)
{
    const struct op_work *w = &k->work;
    return unfused_attention_about(w->batch * w->m * w->k, weights) ||
           unfused_attention_about(w->batch * w->k * w->n, weights);
}

/* Whether a product has to do with a matrix of this many weights: makes it before the softmax,
 * takes it after. Without shapes it may; gradients do both on either side. */
static bool unfused_attention_touches(const struct walk *w, const struct roof_kind *k, int step)
{
    if (!(w->weights > 0)) return true;
    if (w->backward)
        return unfused_attention_makes(k, w->weights) || unfused_attention_takes(k, w->weights);
    return step < 0 ? unfused_attention_makes(k, w->weights)
                    : unfused_attention_takes(k, w->weights);
}

/* Products of single matrices are layers, not attention. */
static bool is_batched(const struct context *cx, row_t r, const struct roof_kind *k)
{
    struct work_op by = work_op_of(cx, r);
    if (k->from != ROOF_SHAPES || by.op == ROW_NONE) return true;
    return str_has(work_op_name(by), "bmm") || k->work.batch > 1;
}

/* What may stand between the products: nothing that picks or sorts. */
static bool unfused_attention_is_between(const struct trace *t, row_t r, const struct roof_kind *k)
{
    enum op_class c = k->work.kind.class;
    if (k->family == FAMILY_REDUCTION && str_has(trace_name(t, r), "reduce_kernel")) return true;
    return k->traits.softmax || k->traits.library || c == OP_POINTWISE || c == OP_COPY ||
           c == OP_FILL || c == OP_REDUCTION || k->family == FAMILY_MEMSET ||
           k->family == FAMILY_ELEMENTWISE || k->family == FAMILY_COPY;
}

/* The next product of these weights from `r` on, in steps of `step`; ROW_NONE when there is none
 * near. Without shapes, nothing else may stand in the way. */
static row_t next_product(const struct walk *w, row_t r, int step, uint32_t reach)
{
    const struct trace *t = w->cx->t;
    for (uint32_t i = 0; i < reach; i++) {
        if ((step < 0 && r == w->first) || (step > 0 && r == w->last)) return ROW_NONE;
        r += (row_t)step;
        if (!trace_is_work(t, r)) continue;
        const struct roof_kind *k = roofline_kind(roofline_of(w->cx), t, r);
        bool found =
            is_product(k) && unfused_attention_touches(w, k, step) && is_batched(w->cx, r, k);
        if (found) return r;
        if (!(w->weights > 0) && (is_product(k) || !unfused_attention_is_between(t, r, k)))
            return ROW_NONE;
    }
    return ROW_NONE;
}

static void add_product(const struct context *cx, row_t r, struct attention *a)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    a->flops += roofline_row_flops(roofline_of(cx), cx->t, r);
    if (k->work.k > 0 && (a->head == 0 || k->work.k < a->head)) a->head = k->work.k;
    if (k->precision < PRECISIONS) a->precision = k->precision;
}

/* matmul copies what does not lie as a batched product wants it; a fused kernel takes it as it is.
 */
static bool is_operand_copy(const struct context *cx, row_t r)
{
    if (!trace_is_work(cx->t, r)) return false;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    return k->work.kind.class == OP_COPY && work_op_under(cx, r, "aten::matmul").op != ROW_NONE;
}

/* Without shapes: a product with another softmax right behind it makes the weights of
 * that one, and does not take those of the one before. */
static bool belongs_to_next(const struct walk *w, row_t product)
{
    const struct trace *t = w->cx->t;
    for (row_t r = product + 1;
         !(w->weights > 0) && r <= w->last && r - product <= unfused_attention_near_kernels; r++) {
        if (!trace_is_work(t, r)) continue;
        const struct roof_kind *k = roofline_kind(roofline_of(w->cx), t, r);
        if (k->traits.softmax) return true;
        if (is_product(k)) return false;
    }
    return false;
}

/* The products around a softmax, one on each side, two for its gradients. */
static bool by_hand(const struct walk *w, row_t softmax, struct attention *a)
{
    uint32_t reach =
        w->weights > 0 ? unfused_attention_reach_kernels : unfused_attention_near_kernels;
    row_t before = next_product(w, softmax, -1, reach), after = next_product(w, softmax, 1, reach);
    if (before == ROW_NONE || after == ROW_NONE || belongs_to_next(w, after)) return false;
    add_product(w->cx, before, a);
    add_product(w->cx, after, a);
    for (int side = -1; w->backward && side <= 1; side += 2) {
        row_t *end = side < 0 ? &before : &after;
        row_t more = next_product(w, *end, side, unfused_attention_near_kernels);
        if (more == ROW_NONE) continue;
        add_product(w->cx, more, a);
        *end = more;
    }
    while (before > w->first && is_operand_copy(w->cx, before - 1)) before--;
    a->begin = before;
    a->end = after + 1;
    a->backward = w->backward;
    a->weights = w->weights;
    return true;
}

/* Whether the row was launched inside the operator, and in `step` from the last such launch: work
 * that is like work of a unit in depth may be like the same operator of it again and again. */
static bool launched_in(const struct context *cx, row_t r, int step, struct work_op *last)
{
    if (!trace_is_work(cx->t, r)) return false;
    struct work_op by = work_op_of(cx, r);
    const struct trace *t = last->t;
    row_t call = by.t == t ? by.call : ROW_NONE, op = last->op;
    if (call == ROW_NONE || t->lane[call] != t->lane[op]) return false;
    if (t != cx->t && (step < 0 ? call >= last->call : call <= last->call)) return false;
    last->call = call;
    return t->ts_ns[call] >= t->ts_ns[op] && t->ts_ns[call] < trace_end_ns(t, op);
}

/* Everything that the operator launched around the softmax. */
static void math_path(const struct walk *w, row_t softmax, struct work_op by, struct attention *a)
{
    struct work_op first = by, last = by;
    struct op_work work;
    a->math = true;
    a->begin = softmax;
    a->end = softmax + 1;
    while (a->begin > w->first && launched_in(w->cx, a->begin - 1, -1, &first)) a->begin--;
    while (a->end <= w->last && launched_in(w->cx, a->end, 1, &last)) a->end++;
    a->weights = w->weights;
    if (!by.same || !op_work_of(by.t, by.op, &work)) return;
    a->flops = work.flops;
    a->head = work.k;
    a->precision = number_is_half(work.type) ? HALF : TF32;
}

/* Without shapes: never longer than the shorter of its products, which move the weights through
 * memory; those in float32 lose what tensor cores are faster. */
static double by_products(const struct context *cx, const struct attention *a)
{
    const struct roofline *f = roofline_of(cx);
    double least = INFINITY;
    for (row_t r = a->begin; r < a->end; r++) {
        if (!trace_is_work(cx->t, r) || !is_product(roofline_kind(f, cx->t, r))) continue;
        double ns = (double)cx->t->dur_ns[r];
        if (roofline_kind(f, cx->t, r)->traits.plain_float)
            ns *= f->ceilings.compute[FP32].per_s / f->ceilings.compute[HALF].per_s * 2;
        if (ns < least) least = ns;
    }
    return least;
}

static double unfused_attention_fused_ns(const struct context *cx, const struct attention *a)
{
    const struct roofline *f = roofline_of(cx);
    double flops = a->flops * (a->backward ? unfused_attention_recomputed_times : 1);
    double rate = roofline_attention_rate(&f->ceilings, a->precision, a->head, a->backward);
    double ns = flops > 0 ? flops / rate : by_products(cx, a);
    return ns > unfused_attention_kernel_ns || isnan(ns) ? ns : unfused_attention_kernel_ns;
}

/* Whether the kernel handles the weights, or belongs to the operator anyway. */
static bool unfused_attention_belongs(const struct context *cx, const struct attention *a, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (a->math || !(a->weights > 0)) return true;
    if (is_product(k))
        return unfused_attention_makes(k, a->weights) || unfused_attention_takes(k, a->weights);
    if (is_operand_copy(cx, r)) return true;
    return k->work.elements >= (1 - unfused_attention_about_share) * a->weights;
}

/* The first kernel stays, and takes as long as the fused one would. */
static int unfused_attention_replace(const struct context *cx, const struct attention *a,
                                     struct found *out, struct err *e)
{
    const struct trace *t = cx->t;
    int64_t all = 0;
    row_t first = ROW_NONE;
    for (row_t r = a->begin; r < a->end; r++) {
        if (!trace_is_work(t, r) || !unfused_attention_belongs(cx, a, r)) continue;
        all += t->dur_ns[r];
        if (first == ROW_NONE) first = r;
    }
    double ns = unfused_attention_fused_ns(cx, a);
    if (first == ROW_NONE || all < unfused_attention_least_ns ||
        !(ns < unfused_attention_cut_share * (double)all))
        return 0;
    uint32_t before = out->fix.n;
    for (row_t r = a->begin; r < a->end; r++)
        if (trace_is_work(t, r) && unfused_attention_belongs(cx, a, r))
            TRY(kernel_fix_add(&out->fix, cx, r, r == first ? ns : 0, e));
    if (out->fix.n > before)
        TRY(attention_calls_add(&out->calls, cx, out->fix.rows + before, out->fix.n - before, e));
    out->n++;
    out->n_math += a->math;
    if (a->weights > out->weights) out->weights = a->weights;
    return 0;
}

/* A classifier's softmax is small beside the products around it. */
static bool is_heavy(const struct context *cx, const struct attention *a, row_t softmax)
{
    double least = INFINITY;
    for (row_t r = a->begin; r < a->end; r++)
        if (trace_is_work(cx->t, r) && is_product(roofline_kind(roofline_of(cx), cx->t, r)) &&
            (double)cx->t->dur_ns[r] < least)
            least = (double)cx->t->dur_ns[r];
    return (double)cx->t->dur_ns[softmax] > unfused_attention_softmax_share * least;
}

/* The math path where operators were not recorded: all it launches. */
static void unseen_math_path(const struct walk *w, struct attention *a)
{
    struct attention_rows rows = {a->begin, a->end}, stream = {w->first, w->last + 1};
    a->math = attention_is_math(w->cx->t, rows);
    if (!a->math) return;
    rows = attention_whole_math(w->cx->t, rows, stream);
    a->begin = rows.begin;
    a->end = rows.end;
}

/* The attention around a softmax; *ret_end is where to go on. */
static int unfused_attention_look_at(struct walk *w, row_t softmax, struct found *out,
                                     row_t *ret_end, struct err *e)
{
    const struct roof_kind *k = roofline_kind(roofline_of(w->cx), w->cx->t, softmax);
    struct attention a = {.precision = HALF};
    struct work_op by = work_op_under(w->cx, softmax, "scaled_dot_product_attention");
    bool shapes = k->from == ROOF_SHAPES || k->from == ROOF_PEERS;
    w->weights = shapes ? k->work.elements : 0;
    w->backward = k->traits.softmax_backward;
    if (by.op != ROW_NONE) math_path(w, softmax, by, &a);
    else if (!by_hand(w, softmax, &a)) return 0;
    if (by.op == ROW_NONE && !shapes && !is_heavy(w->cx, &a, softmax)) return 0;
    if (by.op == ROW_NONE && !w->backward) unseen_math_path(w, &a);
    *ret_end = a.end;
    out->softmax_ns += w->cx->t->dur_ns[softmax];
    return unfused_attention_replace(w->cx, &a, out, e);
}

static int unfused_attention_collect(const struct context *cx, struct found *out, struct err *e)
{
    const struct trace *t = cx->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM || t->lanes[l].begin == t->lanes[l].end) continue;
        struct walk w = {.cx = cx, .first = t->lanes[l].begin, .last = t->lanes[l].end - 1};
        for (row_t r = w.first; r < t->lanes[l].end; r++) {
            if (t->kind[r] != KIND_KERNEL) continue;
            if (!roofline_kind(roofline_of(cx), t, r)->traits.softmax) continue;
            row_t end = r + 1;
            TRY(unfused_attention_look_at(&w, r, out, &end, e));
            w.first = end; /* kernels belong to one attention */
            r = end - 1;
        }
    }
    return 0;
}

static int unfused_attention_report(const struct context *cx, struct found *x, struct findings *out,
                                    struct err *e);

static int unfused_attention_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = unfused_attention_collect(cx, &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = unfused_attention_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    attention_calls_done(&x.calls);
    return rc;
}

const struct rule rule_unfused_attention = {
    .id = "unfused_attention",
    .summary = "attention runs as separate kernels instead of one fused kernel",
    .limit = LIMIT_GPU,
    .tries = "attention:flash",
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_cheaper_way),
    .run = unfused_attention_run,
};

static int unfused_attention_report(const struct context *cx, struct found *x, struct findings *out,
                                    struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_unfused_attention, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    TRY(attention_calls_into(&x->calls, cx, f, e));
    bool math = 2 * x->n_math > x->n;
    f->title = "attention is not fused";
    f->effort = math ? EFFORT_ONE_LINE : EFFORT_LOCAL;
    f->why = rule_text(
        cx,
        "%s call%s of %s run as matrix multiplications and a softmax, not as one fused kernel (%s on "
        "the GPU). Each of these kernels writes and reads the attention matrix again.",
        human_count(x->n).s, x->n == 1 ? "" : "s",
        math ? "scaled_dot_product_attention" : "attention", human_time(x->fix.before_ns).s);
    f->fix = math ? "Let it use a fused backend (flash, cuDNN, efficient): bf16 or fp16 inputs, "
                    "is_causal=True instead of a mask, no sdpa_kernel(MATH). The last dimension "
                    "must be contiguous, and the head size a multiple of 8."
                  : "Call torch.nn.functional.scaled_dot_product_attention instead: it runs as one "
                    "fused kernel (flash, cuDNN or efficient attention).";
    f->not_fixed =
        "The prediction uses the rate that fused attention reaches on this GPU for the same "
        "operations; results differ by rounding.";
    f->show = "kernels %s --roof";
    if (x->weights > 0)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "its attention matrix has %s elements",
                     human_count((uint64_t)kernel_whole(x->weights)).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "the softmax alone takes %s of that; fused kernels would take %s in total",
                 human_time(x->softmax_ns).s, human_time(x->fix.after_ns).s);
    return 0;
}
