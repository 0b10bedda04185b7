/* deep_constants.h: the numbers that decide in analyze/deep; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_DEEP_DEEP_CONSTANTS_H
#define STRATA_ANALYZE_DEEP_DEEP_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define DEEP_CONSTANTS(X) \
    X(int, deep_again_launches, 8, "launches", \
      "so many in a row agree where a sequence goes on after a difference: fewer repeat by chance") \
    X(int, deep_skip_launches, 24, "launches", \
      "a difference is at most this long; behind a longer one the place is looked up again") \
    X(int, deep_context_launches, 8, "launches", \
      "before and after a launch, which say whether it is the same one in two units") \
    X(int, deep_least_run, 4, "launches", \
      "shorter runs agree by chance, unless they are all of a unit")
/* clang-format on */

DEEP_CONSTANTS(CONSTANT_DECLARE)

#endif
