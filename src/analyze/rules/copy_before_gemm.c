/* copy_before_gemm.c: a device-to-device copy directly before a matrix multiplication of the same
 * operator: addmm copies its bias, or an input had to be made contiguous first. */
#include "analyze/findings/rule.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/kernel_name.h"
#include "base/human.h"

/* Whether one operator launched both. */
static bool copy_before_gemm_is_one(const struct context *cx, row_t copy, row_t product)
{
    struct work_op a = work_op_of(cx, copy), b = work_op_of(cx, product);
    return a.op != ROW_NONE && a.t == b.t && a.op == b.op;
}

static bool is_copy(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_MEMCPY && str_has(trace_name(t, r), "DtoD");
}

/* Copies followed on their stream by a matrix multiplication of the same operator. */
static uint32_t copy_before_gemm_collect(const struct context *cx, row_t *rows)
{
    const struct trace *t = cx->t;
    uint32_t n = 0;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM) continue;
        for (row_t r = t->lanes[l].begin; r + 1 < t->lanes[l].end; r++) {
            if (!is_copy(t, r) || t->kind[r + 1] != KIND_KERNEL) continue;
            if (kernel_family(KIND_KERNEL, trace_name(t, r + 1)) != FAMILY_GEMM) continue;
            if (copy_before_gemm_is_one(cx, r, r + 1)) rows[n++] = r;
        }
    }
    return n;
}

static int copy_before_gemm_report(const struct context *cx, const row_t *rows, uint32_t n,
                                   struct findings *out, struct err *e);

static int copy_before_gemm_run(const struct context *cx, struct findings *out, struct err *e)
{
    row_t *rows = arena_alloc(cx->mem, (cx->t->n_gpu + (size_t)1) * sizeof *rows);
    if (!rows) return err_nomem(e);
    uint32_t n = copy_before_gemm_collect(cx, rows);
    return n ? copy_before_gemm_report(cx, rows, n, out, e) : 0;
}

const struct rule rule_copy_before_gemm = {
    .id = "copy_before_gemm",
    .summary = "a copy before a matrix multiplication",
    .limit = LIMIT_GPU,
    .run = copy_before_gemm_run,
};

static int copy_before_gemm_report(const struct context *cx, const row_t *rows, uint32_t n,
                                   struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    struct finding *f = rule_finding(cx, out, &rule_copy_before_gemm, e);
    if (!f) return ERR_NOMEM;
    int64_t ns = 0, bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        ns += t->dur_ns[rows[i]];
        bytes += trace_gpu(t, rows[i])->bytes > 0 ? trace_gpu(t, rows[i])->bytes : 0;
    }
    f->title = "copy before a matrix multiplication";
    f->subject = rule_name(cx, work_op_name(work_op_of(cx, rows[0])), 60);
    f->why = rule_text(cx,
                       "%s matrix multiplication%s first copied %s on the GPU (%s): either the "
                       "bias is written into the "
                       "result, or an input is made contiguous.",
                       human_count(n).s, n == 1 ? "" : "s", human_bytes(bytes).s, human_time(ns).s);
    f->fix =
        "Let the GEMM add the bias itself (nn.Linear's epilogue), or keep the input contiguous.";
    f->show = "kernels %s --filter Memcpy";
    f->blocked_ns = f->exposed_ns = ns;
    finding_note(f, cx->mem, t->ts_ns[rows[0]], rows[0], "%s runs directly before %s",
                 rule_row_name(cx, rows[0], 40), rule_row_name(cx, rows[0] + 1, 50));
    f->edits[f->n_edits++] = (struct sim_edit){.kind = EDIT_DROP_KERNEL, .rows = rows, .n_rows = n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
