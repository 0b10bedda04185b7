/* diff_stats.c: is a difference between two sets of runs real? The interval comes from resampling
 * both sides with replacement (bootstrap of the medians) with a fixed sequence, so the same runs
 * always give the same answer. */
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/diff.h"
#include "base/stats.h"

#define MOST_RUNS  256
#define ROUNDS     4000
#define LEAST_RUNS 3

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int64_t median_of(int64_t *v, uint32_t n)
{
    stats_sort(v, n);
    return stats_median(v, n);
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static double resampled(const int64_t *runs, uint32_t n, uint64_t *state)
{
    int64_t v[MOST_RUNS];
    for (uint32_t i = 0; i < n; i++) v[i] = runs[next_random(state) % n];
    return (double)median_of(v, n);
}

static int64_t plain_median(const int64_t *runs, uint32_t n)
{
    int64_t v[MOST_RUNS];
    memcpy(v, runs, n * sizeof *v);
    return median_of(v, n);
}

static int64_t deviation(const int64_t *runs, uint32_t n, int64_t median)
{
    int64_t v[MOST_RUNS];
    for (uint32_t i = 0; i < n; i++) v[i] = runs[i] > median ? runs[i] - median : median - runs[i];
    return median_of(v, n);
}

void diff_stats(const int64_t *before_ns, uint32_t n_before, const int64_t *after_ns,
                uint32_t n_after, struct diff_stats *ret)
{
    const int64_t *runs[2] = {before_ns, after_ns};
    *ret = (struct diff_stats){.n = {n_before < MOST_RUNS ? n_before : MOST_RUNS,
                                     n_after < MOST_RUNS ? n_after : MOST_RUNS}};
    if (!ret->n[0] || !ret->n[1]) return;
    for (int s = 0; s < 2; s++) {
        int64_t median = plain_median(runs[s], ret->n[s]);
        ret->median_ns[s] = (double)median;
        ret->spread_ns[s] = (double)deviation(runs[s], ret->n[s], median);
    }
    if (ret->median_ns[0] > 0) ret->change_pct = 100 * (ret->median_ns[1] / ret->median_ns[0] - 1);
    ret->known = ret->n[0] >= LEAST_RUNS && ret->n[1] >= LEAST_RUNS;
    if (!ret->known) return;
    double changes[ROUNDS];
    uint64_t state = 42;
    for (int i = 0; i < ROUNDS; i++) {
        double b = resampled(runs[0], ret->n[0], &state), a = resampled(runs[1], ret->n[1], &state);
        changes[i] = b > 0 ? 100 * (a / b - 1) : 0;
    }
    qsort(changes, ROUNDS, sizeof *changes, by_value);
    ret->low_pct = changes[ROUNDS / 40];
    ret->high_pct = changes[ROUNDS - 1 - ROUNDS / 40];
    ret->real = ret->low_pct > 0 || ret->high_pct < 0;
}
