/* slow_gemm.c: matrix products of half-precision inputs that run on kernels without tensor cores:
 * the input was cast to float on the way, or a backend was chosen that has no half kernels. */
#include "analyze/rules/rule.h"
#include "base/human.h"

/* Tensor cores do such a product in at most this share of the time. */
#define TENSOR_CORE_SHARE 0.3

/* Single-precision kernels of cuBLAS and CUTLASS carry it in their names. */
static bool is_float_gemm(struct str name)
{
    return str_has(name, "sgemm") || str_has(name, "_simt_") || str_has(name, "gemm_f32f32_f32f32");
}

static bool half_inputs(const struct trace *t, row_t kernel)
{
    row_t call = trace_launch_of(t, kernel);
    for (row_t r = call == ROW_NONE ? ROW_NONE : t->parent[call];
         r != ROW_NONE && t->kind[r] == KIND_OP; r = t->parent[r]) {
        const struct op_info *op = trace_op(t, r);
        if (!op || op->types == STR_NONE) continue;
        struct str types = trace_str(t, op->types);
        if (str_has(types, "Half") || str_has(types, "BFloat16")) return true;
    }
    return false;
}

static int report(const struct context *cx, const row_t *rows, uint32_t n, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    row_t *rows = arena_alloc(cx->mem, (t->n_gpu + (size_t)1) * sizeof *rows);
    if (!rows) return err_nomem(e);
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->kind[r] == KIND_KERNEL && is_float_gemm(trace_name(t, r)) && half_inputs(t, r))
            rows[n++] = r;
    return n ? report(cx, rows, n, out, e) : 0;
}

const struct rule rule_slow_gemm = {
    .id = "slow_gemm",
    .summary = "half-precision matrix products on kernels without tensor cores",
    .run = run,
};

static int report(const struct context *cx, const row_t *rows, uint32_t n, struct findings *out,
                  struct err *e)
{
    const struct trace *t = cx->t;
    struct finding *f = rule_finding(cx, out, &rule_slow_gemm, e);
    if (!f) return ERR_NOMEM;
    int64_t ns = 0;
    row_t longest = rows[0];
    for (uint32_t i = 0; i < n; i++) {
        ns += t->dur_ns[rows[i]];
        if (t->dur_ns[rows[i]] > t->dur_ns[longest]) longest = rows[i];
    }
    struct source_places *w = places_of(cx);
    struct place p;
    source_places_find(w, trace_launch_of(t, longest), &p);
    rule_place(cx, f, &p);
    f->title = "half-precision products without tensor cores";
    f->why = rule_text(cx,
                       "%u matrix products have bf16 or fp16 inputs, but run on single-precision "
                       "kernels (%s) for %s.",
                       n, rule_name(cx, trace_name(t, longest), 40), human_time(ns).s);
    f->fix = "Keep both inputs in half precision; for attention use a fused backend (flash, "
             "efficient, cuDNN) instead of math; "
             "for float32 allow TF32.";
    f->not_fixed =
        "Predicted with a third of the time, which tensor cores reach for all but tiny shapes.";
    f->show = "kernels %s --filter gemm";
    f->effort = EFFORT_ONE_LINE;
    f->blocked_ns = f->exposed_ns = ns;
    finding_note(f, cx->mem, t->ts_ns[longest], longest, "%s lasts %s",
                 rule_name(cx, trace_name(t, longest), 60), human_time(t->dur_ns[longest]).s);
    f->edits[f->n_edits++] = (struct sim_edit){
        .kind = EDIT_SCALE_KERNEL, .rows = rows, .n_rows = n, .factor = TENSOR_CORE_SHARE};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
