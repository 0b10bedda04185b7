/* recorded_constants.h: the numbers that decide in analyze/recorded; constants.h says what a row
 * is.
 */
#ifndef STRATA_ANALYZE_RECORDED_RECORDED_CONSTANTS_H
#define STRATA_ANALYZE_RECORDED_RECORDED_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define RECORDED_CONSTANTS(X) \
    X(int, one_time_call_ns, 1000000, "ns", \
      "a call that waits for nothing takes microseconds once it is warm") \
    X(int, one_time_call_left_ns, 10000, "ns", \
      "what is left of such a call: a usual one") \
    X(int, one_time_first_calls, 8, "calls", \
      "of one name: what sets up a library makes a few of them") \
    X(int, one_time_part_ns, 1000000, "ns", \
      "shorter pieces of other one-time work are ignored") \
    X(double, recorded_cold_step_ratio, 2.0, "times the usual step", \
      "a step this long is cold, unless the device has more to do in it") \
    X(double, recorded_loop_share, 0.1, "of what follows its begin, without one-time work", \
      "steps that take less of it are a loop inside a call, and show nothing warm") \
    X(double, recorded_left_out_share, 0.05, "of the recording", \
      "with less one-time work it is judged as it is") \
    X(int, recorded_cold_pct, 25, "% of the recording", \
      "with more start-up the rest of a single call is not warm either")
/* clang-format on */

RECORDED_CONSTANTS(CONSTANT_DECLARE)

#endif
