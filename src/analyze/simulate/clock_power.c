/* clock_power.c: see clock_power.h. Kernels of one name and launch shape do the same work each
 * time; when most of them, by time, take some percent longer in the last third of their runs than
 * in the first, the clock has sunk. */
#include "analyze/simulate/clock_power.h"

#include <stdlib.h>

#include "analyze/simulate/simulate_constants.h"
#include "base/map.h"
#include "base/stats.h"

struct kernel_run {
    uint64_t shape; /* name, grid and block */
    int64_t ts_ns, ns;
};

struct drift {
    double whole_ns, slower_ns; /* kernel time looked at, and in kernels that got slower */
    double lost_ns;             /* what those lost, if all their runs were like the last */
    uint32_t n_slower;
};

int64_t clock_power_give_back(int64_t idle_ns)
{
    return idle_ns > 0 ? (int64_t)((double)idle_ns * clock_power_give_back_share) : 0;
}

static int by_shape_and_start(const void *a, const void *b)
{
    const struct kernel_run *x = a, *y = b;
    if (x->shape != y->shape) return x->shape < y->shape ? -1 : 1;
    return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

static uint64_t clock_power_shape_of(const struct trace *t, row_t r)
{
    const struct gpu_info *g = trace_gpu(t, r);
    uint64_t key = map_mix(t->name[r]);
    for (int i = 0; i < 3; i++) key = map_mix(key ^ ((uint64_t)g->grid[i] << 32 | g->block[i]));
    return key;
}

static int64_t clock_power_median(const struct kernel_run *runs, uint32_t n, int64_t *scratch)
{
    for (uint32_t i = 0; i < n; i++) scratch[i] = runs[i].ns;
    stats_sort(scratch, n);
    return stats_median(scratch, n);
}

/* The runs of one kernel in the order of time. */
static void clock_power_look_at(const struct kernel_run *runs, uint32_t n, int64_t *scratch,
                                struct drift *d)
{
    uint32_t third = n / 3;
    if (n < clock_power_runs) return;
    double whole = 0;
    for (uint32_t i = 0; i < n; i++) whole += (double)runs[i].ns;
    double first = (double)clock_power_median(runs, third, scratch);
    double ratio = (double)clock_power_median(runs + n - third, third, scratch) / first;
    d->whole_ns += whole;
    if (ratio < clock_power_slower_times || ratio > clock_power_too_slow_times) return;
    d->n_slower++;
    d->slower_ns += whole;
    d->lost_ns += whole * (ratio - 1);
}

static uint32_t clock_power_collect(const struct trace *t, struct kernel_run *ret)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->kind[r] == KIND_KERNEL && t->dur_ns[r] >= clock_power_kernel_ns && trace_gpu(t, r))
            ret[n++] = (struct kernel_run){clock_power_shape_of(t, r), t->ts_ns[r], t->dur_ns[r]};
    return n;
}

int clock_power_drop(const struct trace *t, struct arena *mem, double *ret_pct, struct err *e)
{
    *ret_pct = 0;
    struct arena_mark mark = arena_mark(mem);
    struct kernel_run *runs = arena_alloc(mem, (t->n_gpu + (size_t)1) * sizeof *runs);
    int64_t *scratch = arena_alloc(mem, (t->n_gpu + (size_t)1) * sizeof *scratch);
    if (!runs || !scratch) return err_nomem(e);
    uint32_t n = clock_power_collect(t, runs);
    if (n) qsort(runs, n, sizeof *runs, by_shape_and_start);
    struct drift d = {0};
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && runs[k].shape == runs[i].shape;) k++;
        clock_power_look_at(runs + i, k - i, scratch, &d);
    }
    arena_reset_to(mem, mark);
    if (d.n_slower >= clock_power_kernels && d.slower_ns >= clock_power_slower_share * d.whole_ns)
        *ret_pct = 100 * d.lost_ns / d.slower_ns;
    return 0;
}
