/* compare_constants.h: the numbers that decide in analyze/compare; constants.h says what a row is.
 */
#ifndef STRATA_ANALYZE_COMPARE_COMPARE_CONSTANTS_H
#define STRATA_ANALYZE_COMPARE_COMPARE_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define COMPARE_CONSTANTS(X) \
    X(double, timing_ranks_share, 0.02, "share of wall clock", \
      "a smaller difference between ranks is chance") \
    X(int, timing_busy_pct, 10, "%", \
      "runs of one side that are further apart were made on a busy machine") \
    X(int, diff_runs, 3, "runs", \
      "fewer runs have no spread") \
    X(double, diff_fewer_share, 0.95, "share", \
      "fewer kernels or launches than this of the other side are a change") \
    X(double, diff_alike_share, 0.4, "share", \
      "of kernel time and of stages: with less in common on both sides these are two programs") \
    X(double, diff_matters_pct, 1.0, "%", \
      "smaller changes do not matter, however sure")
/* clang-format on */

COMPARE_CONSTANTS(CONSTANT_DECLARE)

#endif
