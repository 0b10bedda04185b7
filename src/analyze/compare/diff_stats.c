/* diff_stats.c: Welch's interval of the difference of the mean logarithms. */
#include "analyze/compare/diff_stats.h"

#include <math.h>
#include <stddef.h>

#define LEAST_RUNS 3

struct sample {
    uint32_t n;
    double mean, variance; /* of the logarithms; the variance is that of the mean */
    double least, most;    /* times */
};

static struct sample sample_of(const int64_t *ns, uint32_t n)
{
    struct sample s = {0};
    double squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (ns[i] <= 0) continue;
        double v = (double)ns[i];
        if (!s.n || v < s.least) s.least = v;
        if (v > s.most) s.most = v;
        s.n++;
        s.mean += log(v);
    }
    if (s.n) s.mean /= s.n;
    for (uint32_t i = 0; i < n; i++)
        if (ns[i] > 0) squares += (log((double)ns[i]) - s.mean) * (log((double)ns[i]) - s.mean);
    if (s.n > 1) s.variance = squares / (s.n - 1) / s.n;
    return s;
}

/* Student's t, two-sided 99 %, for so many degrees of freedom, rounded down. */
static double quantile(double degrees)
{
    static const struct {
        double degrees, t;
    } table[] = {{200, 2.60}, {100, 2.63}, {60, 2.66}, {30, 2.75}, {20, 2.85}, {15, 2.95},
                 {12, 3.05},  {10, 3.17},  {9, 3.25},  {8, 3.36},  {7, 3.50},  {6, 3.71},
                 {5, 4.03},   {4, 4.60},   {3, 5.84},  {2, 9.92}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (degrees >= table[i].degrees) return table[i].t;
    return 63.66;
}

static double degrees_of(const struct sample *a, const struct sample *b)
{
    double both = a->variance + b->variance;
    double parts = a->variance * a->variance / (a->n - 1) + b->variance * b->variance / (b->n - 1);
    return parts > 0 ? both * both / parts : 1e9;
}

static double pct(double log_ratio)
{
    return 100 * expm1(log_ratio);
}

void diff_stats(const int64_t *before_ns, uint32_t n_before, const int64_t *after_ns,
                uint32_t n_after, struct diff_stats *ret)
{
    struct sample s[2] = {sample_of(before_ns, n_before), sample_of(after_ns, n_after)};
    *ret = (struct diff_stats){.n = {s[0].n, s[1].n}};
    if (!s[0].n || !s[1].n) return;
    for (int i = 0; i < 2; i++) {
        ret->typical_ns[i] = exp(s[i].mean);
        ret->apart_pct[i] = 100 * (s[i].most / s[i].least - 1);
    }
    double change = s[1].mean - s[0].mean;
    ret->change_pct = pct(change);
    ret->known = s[0].n >= LEAST_RUNS && s[1].n >= LEAST_RUNS;
    if (!ret->known) return;
    double half = quantile(degrees_of(&s[0], &s[1])) * sqrt(s[0].variance + s[1].variance);
    ret->low_pct = pct(change - half);
    ret->high_pct = pct(change + half);
    ret->real = ret->low_pct > 0 || ret->high_pct < 0;
}
