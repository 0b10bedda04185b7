/* comm_constants.h: the numbers that decide in analyze/comm; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_COMM_COMM_CONSTANTS_H
#define STRATA_ANALYZE_COMM_COMM_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define COMM_CONSTANTS(X) \
    X(int, notes_slack_ns, 1000000, "ns", \
      "the time of a note may be taken from another clock than that of the range") \
    X(int, notes_later_ns, 100000000, "ns", \
      "a kernel is described at most so long after its launch; a busy machine may come in " \
      "between")
/* clang-format on */

COMM_CONSTANTS(CONSTANT_DECLARE)

#endif
