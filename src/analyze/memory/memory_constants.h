/* memory_constants.h: the numbers that decide in analyze/memory; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_MEMORY_MEMORY_CONSTANTS_H
#define STRATA_ANALYZE_MEMORY_MEMORY_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define MEMORY_CONSTANTS(X) \
    X(int, memory_growth_steps, 3, "steps", \
      "levels to compare before anything is called growth") \
    X(int, memory_growth_rises_pct, 80, "% of changes", \
      "that must be upwards") \
    X(int, memory_growth_bytes, 1024, "bytes per step", \
      "less does not count as growth") \
    X(int, held_growth_rounds, 5, "rounds", \
      "fewer repetitions of an allocation do not show growth") \
    X(int, held_growth_tail_pct, 125, "% of a round", \
      "a loop goes on until this long before the end of the recording") \
    X(int, held_growth_kept_pct, 40, "% of what is allocated", \
      "rounds that keep as much may be the layers of one pass; steps that leak keep less") \
    X(int, held_growth_freed_pct, 15, "% of what is allocated", \
      "the same where it is given back after them")
/* clang-format on */

MEMORY_CONSTANTS(CONSTANT_DECLARE)

#endif
