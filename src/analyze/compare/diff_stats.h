/* diff_stats.h: several runs per side: is the difference real?
 *
 * The answer is the same for `diff`, `bench` and `try`, which measure in different ways:
 * strata/bench/stats.py has the same words, threshold and Student's t, and
 * tests/difference_vectors.json holds both to it. A difference counts if its interval excludes zero
 * and it is large enough to matter.
 *
 * A run is one sample, whatever it is made of: calls of one run share the state of the machine, so
 * thousands of them say nothing about how the next run will be. Ratios are what is compared, so the
 * logarithms of the times are. The figure that is judged is the figure that is shown. */
#ifndef STRATA_ANALYZE_COMPARE_DIFF_STATS_H
#define STRATA_ANALYZE_COMPARE_DIFF_STATS_H

#include <stdbool.h>
#include <stdint.h>

enum diff_verdict { DIFF_UNKNOWN, DIFF_NO_DIFFERENCE, DIFF_FASTER, DIFF_SLOWER };

struct diff_stats {
    uint32_t n[2];
    double typical_ns[2];     /* geometric mean of the runs; of one run, that run */
    double apart_pct[2];      /* how far the slowest run is from the fastest */
    double change_pct;        /* of typical_ns */
    double low_pct, high_pct; /* 99 % interval of the change */
    bool known;               /* at least three runs per side */
    enum diff_verdict verdict;
};

/* Slower by more than `pct`; where there are enough runs for a verdict, only if it says so, too. */
bool diff_stats_slower(const struct diff_stats *s, double pct);

enum diff_verdict diff_verdict(double change_pct, double low_pct, double high_pct);
const char *diff_verdict_name(enum diff_verdict v); /* "faster", for JSON */

/* How many standard errors |t| exceeds with a chance of `error`. */
double diff_stats_student(double freedom, double error);

/* Times that are not above 0 are left out. */
void diff_stats(const int64_t *before_ns, uint32_t n_before, const int64_t *after_ns,
                uint32_t n_after, struct diff_stats *ret);

#endif
