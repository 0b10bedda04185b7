/* names_constants.h: the numbers that decide in analyze/names; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_NAMES_NAMES_CONSTANTS_H
#define STRATA_ANALYZE_NAMES_NAMES_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define NAMES_CONSTANTS(X) \
    X(int, label_group_rounds_of_step, 2, "labels", \
      "numbered labels that are one group, where the name says that they count") \
    X(int, label_group_rounds, 4, "labels", \
      "... and where it does not") \
    X(int, source_place_starting_ns, 5000000, "ns", \
      "a thread that began this shortly before the call was started for it")
/* clang-format on */

NAMES_CONSTANTS(CONSTANT_DECLARE)

#endif
