/* stats.c: order statistics. Distributions of hundreds of thousands of times are taken per stage,
 * so long arrays are sorted by digits instead of by comparing. */
#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DIGIT_BITS = 11, N_DIGITS = 6, BINS = 1 << DIGIT_BITS, SHORT = 1024 };

static int stats_ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Negative values first: the sign bit is turned around. */
static uint32_t digit_of(int64_t v, int digit)
{
    uint64_t key = (uint64_t)v ^ (uint64_t)1 << 63;
    return (uint32_t)(key >> (digit * DIGIT_BITS)) & (BINS - 1);
}

/* Moves `from` to `to`, ordered by one digit; false when all have the same and nothing moved. */
static bool stats_scatter(const int64_t *from, int64_t *to, uint32_t n, int digit)
{
    uint32_t at[BINS] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++) at[digit_of(from[i], digit)]++;
    if (at[digit_of(from[0], digit)] == n) return false;
    for (int b = 0; b < BINS; b++) {
        uint32_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) to[at[digit_of(from[i], digit)]++] = from[i];
    return true;
}

void stats_sort(int64_t *v, uint32_t n)
{
    int64_t *spare = n >= SHORT ? mem_alloc(n * sizeof *spare) : NULL;
    if (!spare) {
        if (n > 1) qsort(v, n, sizeof *v, stats_ascending);
        return;
    }
    int64_t *from = v, *to = spare;
    for (int digit = 0; digit < N_DIGITS; digit++) {
        if (!stats_scatter(from, to, n, digit)) continue;
        int64_t *moved = to;
        to = from;
        from = moved;
    }
    if (from != v) memcpy(v, from, n * sizeof *v);
    mem_free(spare);
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
