/* diff_stats.h: several runs per side: is the difference real?
 *
 * A run is one sample, whatever it is made of: calls of one run share the state of the machine, so
 * thousands of them say nothing about how the next run will be. Ratios are what is compared, so the
 * logarithms of the times are. The figure that is judged is the figure that is shown. */
#ifndef STRATA_ANALYZE_COMPARE_DIFF_STATS_H
#define STRATA_ANALYZE_COMPARE_DIFF_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct diff_stats {
    uint32_t n[2];
    double typical_ns[2];     /* geometric mean of the runs; of one run, that run */
    double apart_pct[2];      /* how far the slowest run is from the fastest */
    double change_pct;        /* of typical_ns */
    double low_pct, high_pct; /* 99 % interval of the change */
    bool known;               /* at least three runs per side */
    bool real;                /* the interval does not contain zero */
};

/* Times that are not above 0 are left out. */
void diff_stats(const int64_t *before_ns, uint32_t n_before, const int64_t *after_ns,
                uint32_t n_after, struct diff_stats *ret);

#endif
