/* focus_constants.h: the numbers that decide in focus.c; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_FOCUS_CONSTANTS_H
#define STRATA_ANALYZE_FOCUS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define FOCUS_CONSTANTS(X) \
    X(double, focus_cold_times, 1.5, "times", \
      "over the usual time of a call: it was not warmed up") \
    X(double, focus_work_share, 0.5, "share", \
      "of all device work that what is shown must hold") \
    X(double, focus_saved_share, 0.05, "share", \
      "of the recording that must be left out, or all of it is shown") \
    X(int, focus_rounds, 4, "rounds", \
      "a loop of fewer rounds is shown whole") \
    X(int, focus_calls_without_device, 2, "calls", \
      "a program without a device that does its work once is shown whole") \
    X(double, rests_slow_times, 1.5, "times", \
      "over the median of all units of a run that was recorded in parts: a pause was in it") \
    X(int, focus_lost_part, 4, "one call in", \
      "that may be left out because its records were lost")
/* clang-format on */

FOCUS_CONSTANTS(CONSTANT_DECLARE)

#endif
