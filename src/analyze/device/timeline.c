/* timeline.c: merges the streams of a device, takes the union, answers windows from prefix sums.
 * Lanes are sorted by start already, so merging them is a small heap of one cursor a stream. */
#include "analyze/device/timeline.h"

#include <stdlib.h>

#include "base/search.h"

struct cursor {
    row_t at, end;
};

static row_t timeline_next_work(const struct trace *t, row_t r, row_t end)
{
    while (r < end && !timeline_has(t, r)) r++;
    return r;
}

static bool timeline_earlier(const struct trace *t, const struct cursor *a, const struct cursor *b)
{
    int64_t ta = t->ts_ns[a->at], tb = t->ts_ns[b->at];
    return ta < tb || (ta == tb && a->at < b->at);
}

static void sift_down(const struct trace *t, struct cursor *heap, uint32_t n, uint32_t i)
{
    for (;;) {
        uint32_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < n && timeline_earlier(t, &heap[left], &heap[least])) least = left;
        if (right < n && timeline_earlier(t, &heap[right], &heap[least])) least = right;
        if (least == i) return;
        struct cursor c = heap[i];
        heap[i] = heap[least];
        heap[least] = c;
        i = least;
    }
}

static void merge_streams(const struct trace *t, struct cursor *heap, uint32_t n,
                          struct device_line *d)
{
    for (uint32_t i = n / 2; i-- > 0;) sift_down(t, heap, n, i);
    while (n) {
        d->work[d->n_work++] = heap[0].at;
        heap[0].at = timeline_next_work(t, heap[0].at + 1, heap[0].end);
        if (heap[0].at == heap[0].end) heap[0] = heap[--n];
        sift_down(t, heap, n, 0);
    }
}

static void take_union(const struct trace *t, struct device_line *d)
{
    for (uint32_t i = 0; i < d->n_work; i++) {
        struct span s = trace_span(t, d->work[i]);
        if (i == 0 || s.end_ns > d->extent.end_ns) d->extent.end_ns = s.end_ns;
        if (s.end_ns > s.begin_ns) d->n_busy = span_join(d->busy, d->n_busy, s);
    }
    if (d->n_work) d->extent.begin_ns = t->ts_ns[d->work[0]];
    int64_t sum = 0;
    for (uint32_t i = 0; i < d->n_busy; i++) {
        d->busy_before_ns[i] = sum;
        sum += span_ns(d->busy[i]);
    }
    d->busy_before_ns[d->n_busy] = sum;
}

static bool is_stream_of(const struct lane *l, int32_t device)
{
    return l->kind == LANE_STREAM && l->device == device;
}

static int fill_device(const struct trace *t, struct device_line *d, struct arena *mem,
                       struct err *e)
{
    size_t n_all = 0, n_streams = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (!is_stream_of(lane, d->device)) continue;
        n_streams++;
        for (row_t r = lane->begin; r < lane->end; r++) {
            if (!trace_is_work(t, r)) continue;
            if (timeline_has(t, r)) n_all++;
            else d->n_untimed++;
        }
    }
    struct cursor *heap = arena_zalloc(mem, n_streams + 1, sizeof *heap);
    d->work = arena_zalloc(mem, n_all + 1, sizeof *d->work);
    d->busy = arena_zalloc(mem, n_all + 1, sizeof *d->busy);
    d->busy_before_ns = arena_zalloc(mem, n_all + 1, sizeof *d->busy_before_ns);
    if (!heap || !d->work || !d->busy || !d->busy_before_ns) return err_nomem(e);

    uint32_t n_heap = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (!is_stream_of(lane, d->device)) continue;
        struct cursor c = {timeline_next_work(t, lane->begin, lane->end), lane->end};
        if (c.at < c.end) heap[n_heap++] = c;
    }
    merge_streams(t, heap, n_heap, d);
    take_union(t, d);
    return 0;
}

static bool timeline_has_work(const struct trace *t, const struct lane *l)
{
    for (row_t r = l->begin; r < l->end; r++)
        if (trace_is_work(t, r)) return true;
    return false;
}

static int timeline_by_device(const void *a, const void *b)
{
    int32_t x = ((const struct device_line *)a)->device;
    int32_t y = ((const struct device_line *)b)->device;
    return (x > y) - (x < y);
}

int timeline_run(const struct trace *t, struct arena *mem, struct timeline *ret, struct err *e)
{
    struct timeline tl = {arena_zalloc(mem, TIMELINE_MOST_DEVICES, sizeof *tl.devices), 0};
    if (!tl.devices) return err_nomem(e);
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (lane->kind != LANE_STREAM || timeline_device(&tl, lane->device)) continue;
        if (!timeline_has_work(t, lane)) continue;
        if (tl.n_devices == TIMELINE_MOST_DEVICES)
            return FAIL(e, ERR_LIMIT,
                        "the trace has work of more than %d devices, which cannot be analyzed "
                        "together: record or cut out fewer of them",
                        TIMELINE_MOST_DEVICES);
        tl.devices[tl.n_devices++].device = lane->device;
    }
    qsort(tl.devices, tl.n_devices, sizeof *tl.devices, timeline_by_device);
    for (uint32_t i = 0; i < tl.n_devices; i++) TRY(fill_device(t, &tl.devices[i], mem, e));
    *ret = tl;
    return 0;
}

const struct device_line *timeline_device(const struct timeline *tl, int32_t device)
{
    for (uint32_t i = 0; i < tl->n_devices; i++)
        if (tl->devices[i].device == device) return &tl->devices[i];
    return NULL;
}

uint32_t timeline_busy_at(const struct device_line *d, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, d->n_busy, d->busy[i].end_ns <= ts_ns);
    return i;
}

/* Busy time before `ts_ns`. */
static int64_t busy_until(const struct device_line *d, int64_t ts_ns)
{
    uint32_t i = timeline_busy_at(d, ts_ns);
    int64_t sum = d->busy_before_ns[i];
    if (i < d->n_busy && d->busy[i].begin_ns < ts_ns) sum += ts_ns - d->busy[i].begin_ns;
    return sum;
}

int64_t timeline_busy_ns(const struct device_line *d, int64_t begin_ns, int64_t end_ns)
{
    return end_ns > begin_ns ? busy_until(d, end_ns) - busy_until(d, begin_ns) : 0;
}

int64_t timeline_idle_ns(const struct device_line *d, int64_t begin_ns, int64_t end_ns)
{
    return end_ns > begin_ns ? end_ns - begin_ns - timeline_busy_ns(d, begin_ns, end_ns) : 0;
}

int64_t timeline_idle_in(const struct timeline *tl, struct span s)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < tl->n_devices; i++) {
        struct span both = span_both(s, tl->devices[i].extent);
        sum += timeline_idle_ns(&tl->devices[i], both.begin_ns, both.end_ns);
    }
    return sum;
}

uint32_t timeline_work_at(const struct trace *t, const struct device_line *d, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, d->n_work, t->ts_ns[d->work[i]] < ts_ns);
    return i;
}

static int timeline_run_pass(struct context *cx, void *ret, struct err *e)
{
    return timeline_run(cx->t, cx->mem, ret, e);
}

const struct pass timeline_pass = {
    .id = PASS_TIMELINE,
    .size = sizeof(struct timeline),
    .run = timeline_run_pass,
};
