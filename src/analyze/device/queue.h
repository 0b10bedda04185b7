/* queue.h: how much work waits in front of a device, over time.
 *
 * Depth = work launched (start of the call) and not yet started. A graph launch counts every node
 * it starts. Work whose launch is not in the trace, or that seems to start before its launch
 * because the clocks disagree, never waits. A deep queue is healthy: the CPU is ahead. */
#ifndef STRATA_ANALYZE_DEVICE_QUEUE_H
#define STRATA_ANALYZE_DEVICE_QUEUE_H

#include "analyze/device/timeline.h"

struct queue_point {
    int64_t ts_ns;
    uint32_t depth; /* from here to the next point; 0 before the first */
};

struct queue {
    struct queue_point *points; /* ascending, times distinct */
    uint32_t n_points;
    uint32_t deepest;
};

/* The queues of all devices, by index in the timeline. */
struct queues {
    struct queue *of;
    uint32_t n;
};

extern const struct pass queues_pass;

static inline const struct queues *queues_of(const struct context *cx)
{
    return context_kept(cx, PASS_QUEUES);
}

int queue_run(const struct trace *t, const struct device_line *d, struct arena *mem,
              struct queue *ret, struct err *e) MUST_USE;

/* The deepest any of them ever is: the one figure for "queue depth", wherever it is said. */
uint32_t queues_deepest(const struct queues *q);

uint32_t queue_depth_at(const struct queue *q, int64_t ts_ns);

/* Index of the last point at or before `ts_ns`, or UINT32_MAX before the first. */
uint32_t queue_at(const struct queue *q, int64_t ts_ns);

#endif
