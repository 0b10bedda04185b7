/* waits_constants.h: the numbers that decide in analyze/waits; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_WAITS_WAITS_CONSTANTS_H
#define STRATA_ANALYZE_WAITS_WAITS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define WAITS_CONSTANTS(X) \
    X(int, waits_join_ns, 100000, "ns", \
      "a synchronize belongs to the copy before it when no more than this lies between them") \
    X(int, waits_return_ns, 5000, "ns", \
      "the call returns this much after the work it waited for is done") \
    X(int, waits_few_bytes, 65536, "bytes", \
      "where the driver starts to stage pageable uploads in pieces") \
    X(int, waits_few_ns, 100000, "ns", \
      "what the copy of so few bytes takes at most, by any bus") \
    X(int, waits_drain_ns, 50000, "ns", \
      "waiting longer than this for queued work drains the queue") \
    X(int, waits_alloc_ns, 20000, "ns", \
      "allocations shorter than this are not listed") \
    X(int, waits_pressure_ns, 20000, "ns", \
      "launches shorter than this did not wait for the queue")
/* clang-format on */

WAITS_CONSTANTS(CONSTANT_DECLARE)

#endif
