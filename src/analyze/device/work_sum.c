/* work_sum.c: sorts the records by device and start, then one walk a device. */
#include "analyze/device/work_sum.h"

#include <stdlib.h>

static int32_t work_sum_device_of(const struct trace *t, row_t r)
{
    return t->lanes[t->lane[r]].device;
}

static int by_device_and_start(const void *a, const void *b, void *trace)
{
    const struct trace *t = trace;
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    int32_t dx = work_sum_device_of(t, x), dy = work_sum_device_of(t, y);
    if (dx != dy) return dx < dy ? -1 : 1;
    if (t->ts_ns[x] != t->ts_ns[y]) return t->ts_ns[x] < t->ts_ns[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void work_sum_do_count(const struct trace *t, row_t r, struct work_sum *w)
{
    const struct gpu_info *g = trace_gpu(t, r);
    w->sum_ns += t->dur_ns[r];
    if (t->kind[r] == KIND_KERNEL) w->kernels++;
    else if (t->kind[r] == KIND_MEMCPY) w->copies++;
    else w->sets++;
    if (t->kind[r] == KIND_MEMCPY && g && g->bytes > 0) w->copy_bytes += g->bytes;
}

/* One device's records, sorted by start. */
static struct work_sum sum_device(const struct trace *t, const struct device_line *d,
                                  const row_t *rows, uint32_t n)
{
    struct work_sum w = {.extent = {t->ts_ns[rows[0]], t->ts_ns[rows[0]]}};
    for (uint32_t i = 0; i < n; i++) {
        work_sum_do_count(t, rows[i], &w);
        w.union_ns += span_uncovered(&w.extent.end_ns, trace_span(t, rows[i]));
    }
    w.span_ns = w.extent.end_ns - w.extent.begin_ns;
    if (d) w.idle_ns = timeline_idle_ns(d, w.extent.begin_ns, w.extent.end_ns);
    return w;
}

struct work_sum work_sum_run(const struct trace *t, const struct timeline *tl, row_t *rows,
                             uint32_t n)
{
    struct work_sum all = {0};
    if (n) qsort_r(rows, n, sizeof *rows, by_device_and_start, (void *)(uintptr_t)t);
    for (uint32_t i = 0, end; i < n; i = end) {
        int32_t device = work_sum_device_of(t, rows[i]);
        for (end = i + 1; end < n && work_sum_device_of(t, rows[end]) == device;) end++;
        struct work_sum one = sum_device(t, timeline_device(tl, device), rows + i, end - i);
        work_sum_add(&all, &one);
    }
    return all;
}

void work_sum_add(struct work_sum *into, const struct work_sum *more)
{
    if (!work_sum_count(more)) return;
    bool first = !work_sum_count(into);
    if (first || more->extent.begin_ns < into->extent.begin_ns)
        into->extent.begin_ns = more->extent.begin_ns;
    if (first || more->extent.end_ns > into->extent.end_ns)
        into->extent.end_ns = more->extent.end_ns;
    into->sum_ns += more->sum_ns;
    into->union_ns += more->union_ns;
    into->span_ns += more->span_ns;
    into->idle_ns += more->idle_ns;
    into->kernels += more->kernels;
    into->copies += more->copies;
    into->sets += more->sets;
    into->copy_bytes += more->copy_bytes;
}
