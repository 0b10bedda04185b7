/* diff_stats.c: Welch's interval of the difference of the mean logarithms. */
#include "analyze/compare/diff_stats.h"

#include <math.h>

#include "analyze/compare/compare_constants.h"

#define DIFF_ERROR 0.01 /* two-sided: runs are compared once, not looked at again and again */

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

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), out = d;
    for (int m = 1; m < 200; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        out *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        out *= c * d;
        if (fabs(c * d - 1) < 1e-12) break;
    }
    return out;
}

/* Regularized. The fraction converges fast on one side of the mean only: the other side is one
 * minus the mirrored value. */
static double beta_part(double x, double a, double b)
{
    if (!(x > 0 && x < 1)) return x >= 1;
    bool mirror = x > (a + 1) / (a + b + 2);
    if (mirror) {
        double kept = a;
        x = 1 - x;
        a = b;
        b = kept;
    }
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double part = front * beta_fraction(x, a, b);
    return mirror ? 1 - part : part;
}

/* The chance that |t| is at least this large. */
static double student_chance(double t, double freedom)
{
    return beta_part(freedom / (freedom + t * t), freedom / 2, 0.5);
}

double diff_stats_student(double freedom, double error)
{
    const double most = 1e9; /* for one degree of freedom and the smallest errors */
    double low = 0, high = 1;
    while (student_chance(high, freedom) > error && high < most) low = high, high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (student_chance(middle, freedom) > error) low = middle;
        else high = middle;
    }
    return high;
}

static double degrees_of(const struct sample *a, const struct sample *b)
{
    double both = a->variance + b->variance;
    double parts = a->variance * a->variance / (a->n - 1) + b->variance * b->variance / (b->n - 1);
    return parts > 0 ? both * both / parts : 1e6;
}

static double diff_stats_pct(double log_ratio)
{
    return 100 * expm1(log_ratio);
}

enum diff_verdict diff_verdict(double change_pct, double low_pct, double high_pct)
{
    bool sure = low_pct > 0 || high_pct < 0;
    if (!isfinite(low_pct) || !isfinite(high_pct)) return DIFF_UNKNOWN;
    if (!sure || fabs(change_pct) < diff_matters_pct) return DIFF_NO_DIFFERENCE;
    return change_pct < 0 ? DIFF_FASTER : DIFF_SLOWER;
}

const char *diff_verdict_name(enum diff_verdict v)
{
    static const char *const names[] = {"unknown", "no_difference", "faster", "slower"};
    return names[v];
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
    ret->change_pct = diff_stats_pct(change);
    ret->known = s[0].n >= diff_runs && s[1].n >= diff_runs;
    if (!ret->known) return;
    double half = diff_stats_student(degrees_of(&s[0], &s[1]), DIFF_ERROR) *
                  sqrt(s[0].variance + s[1].variance);
    ret->low_pct = diff_stats_pct(change - half);
    ret->high_pct = diff_stats_pct(change + half);
    ret->verdict = diff_verdict(ret->change_pct, ret->low_pct, ret->high_pct);
}

bool diff_stats_slower(const struct diff_stats *s, double pct)
{
    return s->change_pct > pct && (!s->known || s->verdict == DIFF_SLOWER);
}
