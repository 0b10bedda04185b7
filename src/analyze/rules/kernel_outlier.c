/* kernel_outlier.c: some runs of a kernel take far longer than its usual run with the same launch
 * shape: clocks, heat, power, or another user of the device. Advice only, because no change to the
 * program helps. */
#include <stdlib.h>

#include "analyze/findings/rule.h"
#include "analyze/kernels/work_op.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/map.h"

struct run_of {
    uint64_t shape; /* name, operand shapes, grid and block */
    int64_t ns;
    row_t row;
};

/* By kernel, launch and shapes of the operator that launched it; false where these are not known.
 * Grid and block alone are not enough: persistent kernels use the same ones for every size. Units
 * in depth have strings of their own. */
static bool kernel_outlier_shape_of(const struct context *cx, row_t r, uint64_t *ret)
{
    const struct trace *t = cx->t;
    struct work_op by = work_op_of(cx, r);
    const struct op_info *info = work_op_info(by);
    if (!info || info->dims == STR_NONE) return false;
    const struct gpu_info *g = trace_gpu(t, r);
    uint64_t key = map_mix((uint64_t)t->name[r] << 32 | info->dims) + (by.t != t);
    for (int i = 0; i < 3; i++) key = map_mix(key ^ ((uint64_t)g->grid[i] << 32 | g->block[i]));
    *ret = key;
    return true;
}

static int by_shape_and_time(const void *a, const void *b)
{
    const struct run_of *x = a, *y = b;
    if (x->shape != y->shape) return x->shape < y->shape ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

struct outliers {
    uint32_t n;
    int64_t took_ns, lost_ns, worst_lost_ns, usual_ns;
    row_t worst;
};

/* One kernel and shape, runs by time: what those far above the median take beyond it. */
static void kernel_outlier_look_at(const struct context *cx, const struct run_of *runs, uint32_t n,
                                   struct outliers *o)
{
    int64_t usual = runs[n / 2].ns;
    if (n < kernel_outlier_runs || usual < kernel_outlier_ns) return;
    for (uint32_t i = n;
         i-- > 0 && (double)runs[i].ns > cx->th.value[TH_KERNEL_OUTLIER_RATIO] * (double)usual;) {
        int64_t lost = runs[i].ns - usual;
        o->n++;
        o->took_ns += runs[i].ns;
        o->lost_ns += lost;
        if (lost <= o->worst_lost_ns) continue;
        o->worst_lost_ns = lost;
        o->worst = runs[i].row;
        o->usual_ns = usual;
    }
}

static int kernel_outlier_report(const struct context *cx, const struct outliers *o,
                                 struct findings *out, struct err *e);

static int kernel_outlier_run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    struct arena_mark mark = arena_mark(cx->mem);
    struct run_of *runs = arena_alloc(cx->mem, (t->n_gpu + (size_t)1) * sizeof *runs);
    if (!runs) return err_nomem(e);
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        uint64_t shape;
        if (t->kind[r] == KIND_KERNEL && kernel_outlier_shape_of(cx, r, &shape))
            runs[n++] = (struct run_of){shape, t->dur_ns[r], r};
    }
    if (n) qsort(runs, n, sizeof *runs, by_shape_and_time);
    struct outliers o = {.worst = ROW_NONE};
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && runs[k].shape == runs[i].shape;) k++;
        kernel_outlier_look_at(cx, runs + i, k - i, &o);
    }
    arena_reset_to(cx->mem, mark);
    bool matters = (double)o.lost_ns > kernel_outlier_share * (double)wall_of(cx)->wall_ns;
    return matters ? kernel_outlier_report(cx, &o, out, e) : 0;
}

const struct rule rule_kernel_outlier = {
    .id = "kernel_outlier",
    .summary = "some runs of a kernel take far longer than usual",
    .limit = LIMIT_GPU,
    .run = kernel_outlier_run,
};

static int kernel_outlier_report(const struct context *cx, const struct outliers *o,
                                 struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_kernel_outlier, e);
    if (!f) return ERR_NOMEM;
    f->advice = true;
    f->title = "some kernel runs take far longer than usual";
    f->subject = rule_row_name(cx, o->worst, 60);
    f->why =
        rule_text(cx,
                  "%s run%s took more than %.1f times the median of the same kernel and shape, "
                  "which costs %s in total. Usual causes: clocks, heat, power, or another process "
                  "on the GPU.",
                  human_count(o->n).s, o->n == 1 ? "" : "s", cx->th.value[TH_KERNEL_OUTLIER_RATIO],
                  human_time(o->lost_ns).s);
    f->fix = "Compare medians, not means. Watch clocks and throttling (nvidia-smi dmon), check "
             "what else uses the GPU, and record again.";
    f->show = "kernels %s --sort max";
    f->device_ns = o->took_ns;
    f->exposed_ns = o->lost_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[o->worst], o->worst,
                 "the slowest run takes %s; the median is %s",
                 human_time(cx->t->dur_ns[o->worst]).s, human_time(o->usual_ns).s);
    f->thresholds[f->n_thresholds++] = TH_KERNEL_OUTLIER_RATIO;
    return 0;
}
