/* stages_constants.h: the numbers that decide in analyze/stages; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_STAGES_STAGES_CONSTANTS_H
#define STRATA_ANALYZE_STAGES_STAGES_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define STAGES_CONSTANTS(X) \
    X(int, odd_step_steps, 4, "steps", \
      "fewer steps or requests have no usual one") \
    X(int, odd_step_more_ns, 100000, "ns", \
      "a part that took less longer is not named") \
    X(int, odd_step_noticed_ns, 100000000, "ns", \
      "what was slow ended at most this long before its snapshot was marked: a thread wakes up for " \
      "it, on a machine that may be busy") \
    X(int, requests_least_calls, 20, "calls", \
      "fewer calls have no tail") \
    X(int, requests_beside_part, 4, "one call in", \
      "so many calls begin while another one is open: then they are requests") \
    X(int, requests_slow_part, 20, "one call in", \
      "the slowest requests: one in so many") \
    X(int, requests_middle_low_pct, 40, "percentile", \
      "usual requests lie between this percentile") \
    X(int, requests_middle_high_pct, 60, "percentile", \
      "... and this one") \
    X(int, stages_container_pct, 50, "% of its time", \
      "a stage whose stages cover this share of its time only holds them")
/* clang-format on */

STAGES_CONSTANTS(CONSTANT_DECLARE)

#endif
