/* launches_constants.h: the numbers that decide in analyze/launches; constants.h says what a row
 * is. */
#ifndef STRATA_ANALYZE_LAUNCHES_LAUNCHES_CONSTANTS_H
#define STRATA_ANALYZE_LAUNCHES_LAUNCHES_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define LAUNCHES_CONSTANTS(X) \
    X(int, launches_kernels, 4, "kernels", \
      "fewer say nothing about a stage") \
    X(int, launches_idle_start_pct, 50, "% of kernels", \
      "kernels that find the stream idle, in a launch-bound stage") \
    X(int, launches_waiting_pct, 25, "%", \
      "more waiting than this, and launches are not the trouble") \
    X(int, launch_behind_ns, 20000, "ns", \
      "held back by other streams: at least this long") \
    X(int, launch_let_go_ns, 15000, "ns", \
      "... and let go this soon after they end") \
    X(int, queue_starved_pct, 20, "% of time", \
      "the device is idle with an empty queue: often") \
    X(int, queue_fed_pct, 5, "% of time", \
      "... hardly ever") \
    X(int, queue_empty_pct, 50, "% of time", \
      "the queue is empty most of the time")
/* clang-format on */

LAUNCHES_CONSTANTS(CONSTANT_DECLARE)

#endif
