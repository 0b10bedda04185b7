/* stats.c: see stats.h. */
#include "analyze/stats.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void stats_sort(int64_t *v, uint32_t n)
{
    if (n > 1) qsort(v, n, sizeof *v, ascending);
}

int64_t stats_median(const int64_t *sorted, uint32_t n)
{
    if (!n) return 0;
    int64_t low = sorted[(n - 1) / 2], high = sorted[n / 2];
    return low + (high - low) / 2;
}

int64_t stats_percentile(const int64_t *sorted, uint32_t n, uint32_t pct)
{
    if (!n) return 0;
    uint64_t rank = ((uint64_t)n * pct + 99) / 100;
    return sorted[rank ? rank - 1 : 0];
}
