/* clock_power.h: a device that lowers its clock under load.
 *
 * At the power limit the average power is fixed, so idle time is not wasted: the device runs its
 * work at a higher clock for it. Take the idle time away and the clock sinks a little. A replay
 * that forgets this predicts too much on exactly the devices that are busy all the time. */
#ifndef STRATA_ANALYZE_SIMULATE_CLOCK_POWER_H
#define STRATA_ANALYZE_SIMULATE_CLOCK_POWER_H

#include "trace/trace.h"

/* How much slower, in percent, the same kernels run at the end of the trace than at its start; 0
 * where they do not agree on it: then it is not the clock. */
int clock_power_drop(const struct trace *t, struct arena *mem, double *ret_pct,
                     struct err *e) MUST_USE;

/* Time that comes back as slower kernels when `idle_ns` of idle time goes, at the power limit. */
int64_t clock_power_give_back(int64_t idle_ns);

#endif
