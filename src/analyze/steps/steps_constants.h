/* steps_constants.h: the numbers that decide in analyze/steps; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_STEPS_STEPS_CONSTANTS_H
#define STRATA_ANALYZE_STEPS_STEPS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define STEPS_CONSTANTS(X) \
    X(int, steps_far_pct, 150, "% of the median", \
      "what makes a step an outlier") \
    X(int, steps_far_of_two_pct, 200, "% of the other", \
      "the same where there are only two steps") \
    X(int, loop_labels_cover_pct, 30, "% of labelled time", \
      "share of a level's labelled time that rounds must cover") \
    X(int, loop_labels_inner_rounds, 4, "forwards", \
      "forwards of one round: more of them are rounds themselves") \
    X(int, cold_start_dead_times, 3, "times the median", \
      "time before the first operator of a label, this many times that of its other calls") \
    X(int, cold_start_dead_ns, 10000, "ns", \
      "... and is at least this long") \
    X(int, cold_start_dead_pct, 5, "% of the label", \
      "... and this share of the label: the label is cold") \
    X(int, cold_start_calls, 3, "calls", \
      "fewer calls of a label have no usual start") \
    X(int, alike_kernels_pct, 50, "% of the kernels of the larger round", \
      "rounds with fewer kernels of one name and grid in common are parts of one pass")
/* clang-format on */

STEPS_CONSTANTS(CONSTANT_DECLARE)

#endif
