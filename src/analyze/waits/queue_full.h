/* queue_full.h: launches that took long because the queue in front of the device was full. The CPU
 * is far ahead then, which is healthy: this is not a wait that a change to the program should
 * remove.
 */
#ifndef STRATA_ANALYZE_WAITS_QUEUE_FULL_H
#define STRATA_ANALYZE_WAITS_QUEUE_FULL_H

#include "analyze/device/timeline.h"

#define PRESSURE_NS 20000 /* launches shorter than this did not wait */

struct queue_full {
    struct span *full; /* times the recorder saw a full command buffer, ascending, apart */
    uint32_t n_full;
};

int queue_full_init(struct queue_full *p, const struct trace *t, struct arena *mem,
                    struct err *e) MUST_USE;

/* How long the launching call `r` stood before a full queue. */
int64_t queue_full_ns(const struct queue_full *p, const struct trace *t, row_t r);

#endif
