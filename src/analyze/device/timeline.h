/* timeline.h: when each device works and when it does not. Every question about idle time, queue
 * depth or overlap is answered from here, in integer nanoseconds, so that all views agree.
 *
 *     stream 7   ####..####....      work: kernels, copies, fills, by start
 *     stream 13  ..###.......##
 *     busy       ######.####..##     union over streams; touching spans are one span
 *     idle       ......x....xx..     what is left of a window
 *
 * Device-side sync records and annotations are not work. Records without a time stamp are left out
 * and counted. All memory comes from the arena given to timeline_run. */
#ifndef STRATA_ANALYZE_DEVICE_TIMELINE_H
#define STRATA_ANALYZE_DEVICE_TIMELINE_H

#include "analyze/context.h"

/* Devices of one trace. Every question is asked of each device, and every view has a part for each:
 * more than this is not one machine, and a view of them is not an overview. */
#define TIMELINE_MOST_DEVICES 256

struct device_line {
    int32_t device;
    row_t *work; /* by start, over all streams */
    uint32_t n_work;
    uint32_t n_untimed; /* work records without a time, not in `work` */
    struct span *busy;  /* ascending, apart, none empty */
    uint32_t n_busy;
    int64_t *busy_before_ns; /* busy time before busy[i]; [n_busy] is the total */
    struct span extent;      /* first start to last end; begin == end when there is no work */
};

struct timeline {
    struct device_line *devices; /* by device number; only those with work records */
    uint32_t n_devices;
};

/* Whether the row is work that stands on a timeline: some recorders lose time stamps. */
static inline bool timeline_has(const struct trace *t, row_t r)
{
    return trace_is_work(t, r) && !(t->flags[r] & ROW_NO_TIME);
}

/* ERR_LIMIT with more devices than TIMELINE_MOST_DEVICES. */
int timeline_run(const struct trace *t, struct arena *mem, struct timeline *ret,
                 struct err *e) MUST_USE;

/* NULL when the device did no work. */
const struct device_line *timeline_device(const struct timeline *tl, int32_t device);

/* Busy or idle time of the device inside [begin, end): O(log n). Idle + busy = end - begin. */
int64_t timeline_busy_ns(const struct device_line *d, int64_t begin_ns, int64_t end_ns);
int64_t timeline_idle_ns(const struct device_line *d, int64_t begin_ns, int64_t end_ns);

/* Idle time of all devices inside the span, of each between its first and its last work. */
int64_t timeline_idle_in(const struct timeline *tl, struct span s);

/* Index of the first busy span that ends after `ts_ns`; n_busy when there is none. The device
 * works at `ts_ns` when that span has begun by then. */
uint32_t timeline_busy_at(const struct device_line *d, int64_t ts_ns);

/* Index in `work` of the first record that starts at or after `ts_ns`; n_work when none. */
uint32_t timeline_work_at(const struct trace *t, const struct device_line *d, int64_t ts_ns);

extern const struct pass timeline_pass;

static inline const struct timeline *timeline_of(const struct context *cx)
{
    return context_kept(cx, PASS_TIMELINE);
}

#endif
