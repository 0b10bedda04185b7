/* copy_before_gemm.c: a device-to-device copy directly before a matrix multiplication of the same
 * operator: addmm copies its bias, or an input had to be made contiguous first. */
#include "analyze/names/kernel_name.h"
#include "analyze/rules/rule.h"
#include "base/human.h"

/* The operator a device row was launched under, or ROW_NONE. */
static row_t op_of(const struct trace *t, row_t r)
{
    row_t call = trace_launch_of(t, r);
    return call == ROW_NONE ? ROW_NONE : trace_up(t, call, KIND_OP);
}

static bool is_copy(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_MEMCPY && str_has(trace_name(t, r), "DtoD");
}

/* Copies followed on their stream by a matrix multiplication of the same operator. */
static uint32_t collect(const struct trace *t, row_t *rows)
{
    uint32_t n = 0;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM) continue;
        for (row_t r = t->lanes[l].begin; r + 1 < t->lanes[l].end; r++) {
            if (!is_copy(t, r) || t->kind[r + 1] != KIND_KERNEL) continue;
            if (kernel_family(KIND_KERNEL, trace_name(t, r + 1)) != FAMILY_GEMM) continue;
            row_t op = op_of(t, r);
            if (op != ROW_NONE && op == op_of(t, r + 1)) rows[n++] = r;
        }
    }
    return n;
}

static int report(const struct context *cx, const row_t *rows, uint32_t n, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    row_t *rows = arena_alloc(cx->mem, (cx->t->n_gpu + (size_t)1) * sizeof *rows);
    if (!rows) return err_nomem(e);
    uint32_t n = collect(cx->t, rows);
    return n ? report(cx, rows, n, out, e) : 0;
}

const struct rule rule_copy_before_gemm = {
    .id = "copy_before_gemm",
    .summary = "a hidden copy before a matrix multiplication",
    .run = run,
};

static int report(const struct context *cx, const row_t *rows, uint32_t n, struct findings *out,
                  struct err *e)
{
    const struct trace *t = cx->t;
    struct finding *f = rule_finding(cx, out, &rule_copy_before_gemm, e);
    if (!f) return ERR_NOMEM;
    int64_t ns = 0, bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        ns += t->dur_ns[rows[i]];
        bytes += trace_gpu(t, rows[i])->bytes > 0 ? trace_gpu(t, rows[i])->bytes : 0;
    }
    row_t op = op_of(t, rows[0]);
    f->title = "hidden copy before a matrix multiplication";
    f->subject = rule_name(cx, trace_name(t, op), 60);
    f->why = rule_text(cx,
                       "%u matrix multiplication%s first copied %s on the GPU (%s): either the "
                       "bias is written into the "
                       "result, or an input is made contiguous.",
                       n, n == 1 ? "" : "s", human_bytes(bytes).s, human_time(ns).s);
    f->fix =
        "Let the GEMM add the bias itself (nn.Linear's epilogue), or keep the input contiguous.";
    f->show = "kernels %s --filter Memcpy";
    f->blocked_ns = f->exposed_ns = ns;
    finding_note(f, cx->mem, t->ts_ns[rows[0]], rows[0], "%s runs directly before %s",
                 rule_name(cx, trace_name(t, rows[0]), 40),
                 rule_name(cx, trace_name(t, rows[0] + 1), 50));
    f->edits[f->n_edits++] = (struct sim_edit){.kind = EDIT_DROP_KERNEL, .rows = rows, .n_rows = n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
