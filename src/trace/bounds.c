/* bounds.c: see bounds.h. Sums are taken in doubles, which do not overflow either. */
#include "trace/bounds.h"

#include <math.h>

static int64_t size_or(int64_t n, int64_t otherwise)
{
    return bounds_bytes(n) ? n : otherwise;
}

void bounds_gpu(struct gpu_info *g)
{
    if (g->bytes < -1 || !bounds_bytes(g->bytes)) g->bytes = -1;
}

void bounds_mem(struct mem_info *m)
{
    m->bytes = size_or(m->bytes, 0);
    m->total_allocated = size_or(m->total_allocated, -1);
    m->total_reserved = size_or(m->total_reserved, -1);
}

static void bounds_within(int32_t *n, int32_t most)
{
    if (*n < 0 || *n > most) *n = 0;
}

void bounds_device(struct device *d)
{
    if (d->memory_bytes < 0 || !bounds_bytes(d->memory_bytes)) d->memory_bytes = 0;
    bounds_within(&d->major, 999);
    bounds_within(&d->minor, 999);
    int32_t *counts[] = {&d->n_sms,       &d->warp_size,     &d->max_threads_per_sm,
                         &d->regs_per_sm, &d->shared_per_sm, &d->shared_per_block_optin};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) bounds_within(counts[i], 1 << 28);
}

static double bounds_distance(const struct trace *t, row_t a, row_t b)
{
    if ((t->flags[a] | t->flags[b]) & ROW_NO_TIME) return 0;
    return fabs((double)t->ts_ns[a] - (double)t->ts_ns[b]);
}

static double streams_of(const struct trace *t)
{
    double n = 0;
    for (uint32_t i = 0; i < t->n_lanes; i++) n += t->lanes[i].kind == LANE_STREAM;
    return n;
}

bool bounds_sums(const struct trace *t)
{
    double ns = 0, bytes = 0, launching = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        row_t launch = trace_launch_of(t, r);
        ns += (double)t->dur_ns[r];
        if (launch != ROW_NONE) launching += bounds_distance(t, r, launch);
    }
    for (uint32_t i = 0; i < t->n_gpu; i++) bytes += fabs((double)t->gpu[i].bytes);
    for (uint32_t i = 0; i < t->n_mem; i++) bytes += fabs((double)t->mem[i].bytes);
    double length = (double)t->end_ns - (double)t->begin_ns;
    return ns <= BOUNDS_SUM && bytes <= BOUNDS_SUM && launching <= BOUNDS_SUM &&
           length * streams_of(t) <= BOUNDS_SUM;
}
