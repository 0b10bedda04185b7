/* tensor_loop.c: the same small operation once for each of many tensors, one launch after the
 * other: a product for each expert, an update for each parameter. One batched product, or one
 * foreach operator, does them all. */
#include <math.h>

#include "analyze/findings/kernel_fix.h"
#include "analyze/names/torch_words.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/vec.h"

/* What the CPU still does: calls for one product, and the share of a foreach operator's lists. */

enum loop_of { NO_LOOP, PRODUCTS, UPDATES, LOOPS };

struct run_of {
    enum loop_of of;
    uint32_t kind; /* of kernel: products of one shape */
    row_t begin, end;
    uint32_t n;
    double flops, bytes;
    enum precision precision;
};

struct found {
    struct kernel_fix fix;
    struct sim_cut *spans;
    uint32_t n_spans;
    size_t cap_spans;
    uint32_t n, longest_run;
    int64_t cpu_ns;
};

/* Whether it leaves most of the device idle; without shapes its time has to tell. */
static bool tensor_loop_is_small(const struct context *cx, row_t r, const struct roof_kind *k)
{
    double sms = roofline_of(cx)->ceilings.n_sms;
    if (!(k->work.m > 0) || !(sms > 0)) return cx->t->dur_ns[r] <= tensor_loop_unknown_ns;
    return cx->t->dur_ns[r] <= tensor_loop_kernel_ns && 2 * roofline_tiles(&k->work) <= sms;
}

static enum loop_of tensor_loop_loop_of(const struct context *cx, row_t r)
{
    if (cx->t->kind[r] != KIND_KERNEL || trace_launch_of(cx->t, r) == ROW_NONE) return NO_LOOP;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    bool product = k->work.kind.class == OP_PRODUCT ||
                   (k->work.kind.class == OP_OTHER && k->family == FAMILY_GEMM);
    if (product && !k->helper && tensor_loop_is_small(cx, r, k)) return PRODUCTS;
    bool update =
        k->work.kind.class == OP_POINTWISE && k->work.kind.in_place && !k->work.kind.lists;
    return update && cx->t->dur_ns[r] <= tensor_loop_kernel_ns && !torch_in_optimizer(cx->t, r)
               ? UPDATES
               : NO_LOOP;
}

static void tensor_loop_add(const struct context *cx, row_t r, struct run_of *x)
{
    const struct roofline *f = roofline_of(cx);
    x->end = r + 1;
    x->n++;
    x->flops += roofline_row_flops(f, cx->t, r);
    x->bytes += roofline_row_bytes(f, cx->t, r);
    x->precision = roofline_kind(f, cx->t, r)->precision;
}

/* The outermost operator around the launch, or the launch itself. */
static row_t tensor_loop_outermost(const struct trace *t, row_t call)
{
    while (t->parent[call] != ROW_NONE && t->kind[t->parent[call]] == KIND_OP)
        call = t->parent[call];
    return call;
}

static int cut_cpu(const struct context *cx, const struct run_of *x, struct found *out,
                   struct err *e)
{
    const struct trace *t = cx->t;
    const struct sim_model *m = model_of(cx);
    row_t first = tensor_loop_outermost(t, trace_launch_of(t, x->begin));
    row_t last = tensor_loop_outermost(t, trace_launch_of(t, x->end - 1));
    uint32_t thread = sim_thread_of(m, t->lane[first]);
    int64_t begin = t->ts_ns[first], end = trace_end_ns(t, last);
    if (thread == SIM_NONE || t->lane[last] != t->lane[first] || end <= begin) return 0;
    double keep = x->of == UPDATES ? tensor_loop_lists_share : tensor_loop_product_calls / x->n;
    if (VEC_RESERVE(out->spans, out->n_spans, out->cap_spans, 1)) return err_nomem(e);
    out->spans[out->n_spans++] = (struct sim_cut){thread, begin, end, keep, false, 0};
    out->cpu_ns += end - begin;
    return 0;
}

static int tensor_loop_finish(const struct context *cx, const struct run_of *x, struct found *all,
                              struct err *e)
{
    uint32_t least = x->of == PRODUCTS ? tensor_loop_products : tensor_loop_updates;
    if (x->of == NO_LOOP || x->n < least) return 0;
    struct found *out = &all[x->of];
    double ns = roofline_ns(&roofline_of(cx)->ceilings, x->precision, x->flops, x->bytes) /
                tensor_loop_share;
    for (row_t r = x->begin; r < x->end; r++)
        TRY(kernel_fix_add(&out->fix, cx, r, r > x->begin || isnan(ns) ? 0 : ns, e));
    out->n++;
    if (x->n > out->longest_run) out->longest_run = x->n;
    return cut_cpu(cx, x, out, e);
}

static int tensor_loop_collect_lane(const struct context *cx, const struct lane *l,
                                    struct found *all, struct err *e)
{
    struct run_of x = {.of = NO_LOOP};
    for (row_t r = l->begin; r < l->end; r++) {
        enum loop_of of = trace_is_work(cx->t, r) ? tensor_loop_loop_of(cx, r) : NO_LOOP;
        uint32_t kind = of ? roofline_of(cx)->kind_of[roofline_slot(cx->t, r)] : 0;
        bool same = of == x.of && (of == UPDATES || kind == x.kind);
        if (!same) {
            TRY(tensor_loop_finish(cx, &x, all, e));
            x = (struct run_of){.of = of, .kind = kind, .begin = r, .end = r};
        }
        if (of) tensor_loop_add(cx, r, &x);
    }
    return tensor_loop_finish(cx, &x, all, e);
}

static int tensor_loop_report(const struct context *cx, const struct found *x, enum loop_of of,
                              struct findings *out, struct err *e);

static bool tensor_loop_pays(const struct context *cx, const struct found *x)
{
    return x->n && (kernel_fix_pays(&x->fix, cx) ||
                    kernel_share(cx, x->cpu_ns) >= cx->th.value[TH_REPORT_GAIN_PCT]);
}

static int tensor_loop_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found all[LOOPS] = {0};
    for (int i = 0; i < LOOPS; i++) all[i].fix.others = out;
    int rc = 0;
    for (lane_id l = 0; l < cx->t->n_lanes && rc == 0; l++)
        if (cx->t->lanes[l].kind == LANE_STREAM)
            rc = tensor_loop_collect_lane(cx, &cx->t->lanes[l], all, e);
    for (int i = 0; i < LOOPS; i++) {
        if (rc == 0 && tensor_loop_pays(cx, &all[i]))
            rc = tensor_loop_report(cx, &all[i], i, out, e);
        kernel_fix_done(&all[i].fix);
        mem_free(all[i].spans);
    }
    return rc;
}

const struct rule rule_tensor_loop = {
    .id = "tensor_loop",
    .summary = "the same small operation for many tensors, one after the other",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_unfused_optimizer),
    .run = tensor_loop_run,
};

static int tensor_loop_report(const struct context *cx, const struct found *x, enum loop_of of,
                              struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_tensor_loop, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    struct sim_cut *spans = arena_alloc(cx->mem, (x->n_spans + (size_t)1) * sizeof *spans);
    if (!spans) return err_nomem(e);
    if (x->n_spans) {
        memcpy(spans, x->spans, x->n_spans * sizeof *spans);
        f->edits[f->n_edits++] =
            (struct sim_edit){.kind = EDIT_SCALE_SPANS, .spans = spans, .n_spans = x->n_spans};
    }
    bool products = of == PRODUCTS;
    f->title =
        products ? "small matrix multiplications run one by one" : "tensors are updated one by one";
    f->blocked_ns = x->cpu_ns;
    f->why = rule_text(
        cx,
        products ? "%u matrix multiplications of one small shape in runs of up to %u: each leaves "
                   "most of the GPU idle and costs a launch (%s on the GPU, %s on the "
                   "CPU)."
                 : "%u small updates in place in runs of up to %u: each costs a launch "
                   "(%s on the GPU, %s on the CPU).",
        x->fix.n, x->longest_run, human_time(x->fix.before_ns).s, human_time(x->cpu_ns).s);
    f->fix =
        products
            ? "Batch them: torch.bmm over stacked tensors, or a grouped GEMM if their sizes differ."
            : "Update all tensors with one call: torch._foreach_lerp_, torch._foreach_mul_, "
              "torch._foreach_add_ take lists of tensors.";
    f->not_fixed = products ? "Those that depend on each other cannot be batched." : NULL;
    f->show = "gaps %s --launches";
    return 0;
}
