/* stats.h: order statistics of integers: what "median" and "p95" mean in every view. */
#ifndef STRATA_BASE_STATS_H
#define STRATA_BASE_STATS_H

#include <stdbool.h>
#include <stdint.h>

/* Sorts ascending, in place; the functions below want it sorted. */
void stats_sort(int64_t *v, uint32_t n);

/* Mean of the two middle values when `n` is even, rounded down; 0 when there are none. */
int64_t stats_median(const int64_t *sorted, uint32_t n);

/* Nearest rank: the smallest value that at least `pct` of a hundred do not exceed; 0 when none. */
int64_t stats_percentile(const int64_t *sorted, uint32_t n, uint32_t pct);

/* A share in per cent: 0 of nothing. */
static inline double stats_pct(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

#endif
