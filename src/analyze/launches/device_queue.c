/* device_queue.c: integrates the depth of a queue over the device's window. */
#include "analyze/launches/launches.h"
#include "analyze/launches/launches_constants.h"
#include "analyze/launches/launches_private.h"

#include "base/stats.h"

const char *ahead_words(enum ahead a)
{
    switch (a) {
    case AHEAD_CPU: return "the CPU runs ahead: the GPU hardly ever waits for a launch";
    case AHEAD_DEVICE: return "the GPU waits for launches: the CPU does not run ahead";
    case AHEAD_LOCKSTEP:
        return "lockstep: the queue is empty while the GPU is busy, so each delay of the CPU "
               "stalls the GPU";
    case AHEAD_NEITHER: return "the CPU and the GPU take turns waiting for each other";
    default: return "unknown whether the CPU runs ahead: launches or device records are missing";
    }
}

const char *ahead_name(enum ahead a)
{
    static const char *const names[] = {"cpu", "device", "lockstep", "neither", "unknown"};
    return names[a];
}

struct integral {
    const struct device_line *d;
    struct device_queue *q;
    int64_t *ns_at; /* by depth */
    double weighted, starved_ns;
};

/* Adds [begin, end) at one depth to the bins it touches. */
static void fill_bins(struct device_queue *q, struct span s, uint32_t depth)
{
    double width = (double)(q->window.end_ns - q->window.begin_ns) / LAUNCH_BINS;
    double from = (double)(s.begin_ns - q->window.begin_ns);
    double to = (double)(s.end_ns - q->window.begin_ns);
    for (int i = (int)(from / width); i < LAUNCH_BINS && i * width < to; i++) {
        double lo = from > i * width ? from : i * width;
        double hi = to < (i + 1) * width ? to : (i + 1) * width;
        if (hi > lo) q->bins[i] += depth * (hi - lo) / width;
    }
}

static void add_segment(struct integral *in, int64_t begin, int64_t end, uint32_t depth)
{
    struct device_queue *q = in->q;
    if (begin < q->window.begin_ns) begin = q->window.begin_ns;
    if (end > q->window.end_ns) end = q->window.end_ns;
    if (begin >= end) return;
    in->ns_at[depth] += end - begin;
    in->weighted += (double)depth * (double)(end - begin);
    if (depth == 0) in->starved_ns += (double)timeline_idle_ns(in->d, begin, end);
    fill_bins(q, (struct span){begin, end}, depth);
}

static uint32_t depth_at_share(const struct integral *in, int64_t window, uint32_t pct)
{
    int64_t sum = 0;
    for (uint32_t depth = 0; depth <= in->q->queue.deepest; depth++) {
        sum += in->ns_at[depth];
        if (sum / (double)window * 100 >= pct) return depth;
    }
    return in->q->queue.deepest;
}

static enum ahead who_is_ahead(const struct device_queue *q)
{
    if (!q->queue.n_points) return AHEAD_UNKNOWN;
    if (q->starved_pct >= queue_starved_pct) return AHEAD_DEVICE;
    if (q->zero_pct >= queue_empty_pct) return AHEAD_LOCKSTEP;
    return q->starved_pct < queue_fed_pct ? AHEAD_CPU : AHEAD_NEITHER;
}

int device_queue_sum(const struct device_line *d, struct device_queue *q, struct arena *mem,
                     struct err *e)
{
    struct integral in = {.d = d, .q = q};
    q->device = d->device;
    q->window = d->extent;
    q->ahead = AHEAD_UNKNOWN;
    int64_t window = d->extent.end_ns - d->extent.begin_ns;
    if (window <= 0) return 0;
    in.ns_at = arena_zalloc(mem, (size_t)q->queue.deepest + 1, sizeof *in.ns_at);
    if (!in.ns_at) return err_nomem(e);
    const struct queue *queue = &q->queue;
    int64_t at = d->extent.begin_ns;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < queue->n_points; i++) {
        add_segment(&in, at, queue->points[i].ts_ns, depth);
        at = queue->points[i].ts_ns;
        depth = queue->points[i].depth;
    }
    add_segment(&in, at, d->extent.end_ns, depth);

    int64_t few = 0;
    for (uint32_t i = 0; i <= queue->deepest && i <= 2; i++) few += in.ns_at[i];
    q->mean = in.weighted / (double)window;
    q->median = depth_at_share(&in, window, 50);
    q->p95 = depth_at_share(&in, window, 95);
    q->zero_pct = stats_pct(in.ns_at[0], window);
    q->few_pct = stats_pct(few, window);
    q->starved_pct = stats_pct(in.starved_ns, window);
    q->ahead = who_is_ahead(q);
    return 0;
}
