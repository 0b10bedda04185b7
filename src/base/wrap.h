/* wrap.h: sums of numbers from a file. A hostile file can make any sum overflow, which C leaves
 * undefined for signed numbers; these wrap around instead. */
#ifndef STRATA_BASE_WRAP_H
#define STRATA_BASE_WRAP_H

#include <stdint.h>

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
