/* kernel_outlier.c: some runs of a kernel take far longer than its usual run with the same launch
 * shape: clocks, heat, power, or another user of the device. Advice only, because no change to the
 * program helps. */
#include <stdlib.h>

#include "analyze/rules/rule.h"
#include "base/human.h"
#include "base/map.h"

/* A kernel that ran less often has no usual time; shorter runs are timer noise. */
#define LEAST_RUNS 8
#define LEAST_NS   20000
/* Least total cost of the outliers, as a share of the wall clock. */
#define LEAST_SHARE 0.02

struct run_of {
    uint64_t shape; /* name, operand shapes, grid and block */
    int64_t ns;
    row_t row;
};

/* Shapes of the operator that launched it, or STR_NONE. Grid and block alone are not enough:
 * persistent kernels use the same ones for every size. */
static str_id dims_of(const struct trace *t, row_t r)
{
    row_t call = trace_launch_of(t, r);
    row_t op = call == ROW_NONE ? ROW_NONE : trace_up(t, call, KIND_OP);
    const struct op_info *info = op == ROW_NONE ? NULL : trace_op(t, op);
    return info ? info->dims : STR_NONE;
}

static uint64_t shape_of(const struct trace *t, row_t r, str_id dims)
{
    const struct gpu_info *g = trace_gpu(t, r);
    uint64_t key = map_mix((uint64_t)t->name[r] << 32 | dims);
    for (int i = 0; i < 3; i++) key = map_mix(key ^ ((uint64_t)g->grid[i] << 32 | g->block[i]));
    return key;
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
static void look_at(const struct context *cx, const struct run_of *runs, uint32_t n,
                    struct outliers *o)
{
    int64_t usual = runs[n / 2].ns;
    if (n < LEAST_RUNS || usual < LEAST_NS) return;
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

static int report(const struct context *cx, const struct outliers *o, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    struct arena_mark mark = arena_mark(cx->mem);
    struct run_of *runs = arena_alloc(cx->mem, (t->n_gpu + (size_t)1) * sizeof *runs);
    if (!runs) return err_nomem(e);
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        str_id dims = t->kind[r] == KIND_KERNEL ? dims_of(t, r) : STR_NONE;
        if (dims != STR_NONE) runs[n++] = (struct run_of){shape_of(t, r, dims), t->dur_ns[r], r};
    }
    if (n) qsort(runs, n, sizeof *runs, by_shape_and_time);
    struct outliers o = {.worst = ROW_NONE};
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && runs[k].shape == runs[i].shape;) k++;
        look_at(cx, runs + i, k - i, &o);
    }
    arena_reset_to(cx->mem, mark);
    bool matters = (double)o.lost_ns > LEAST_SHARE * (double)wall_of(cx)->wall_ns;
    return matters ? report(cx, &o, out, e) : 0;
}

const struct rule rule_kernel_outlier = {
    .id = "kernel_outlier",
    .summary = "some runs of a kernel take far longer than usual",
    .run = run,
};

static int report(const struct context *cx, const struct outliers *o, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_kernel_outlier, e);
    if (!f) return ERR_NOMEM;
    f->advice = true;
    f->title = "some kernel runs take far longer than usual";
    f->subject = rule_name(cx, trace_name(cx->t, o->worst), 60);
    f->why =
        rule_text(cx,
                  "%u run%s took more than %.1f times the median of the same kernel and shape, "
                  "which costs %s in total. Usual causes: clocks, heat, power, or another process "
                  "on the GPU.",
                  o->n, o->n == 1 ? "" : "s", cx->th.value[TH_KERNEL_OUTLIER_RATIO],
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
