/* top_kernels.h: what fills the device's time: kernels by operator, and what the largest of them
 * leave below their roof, on the wall clock. */
#ifndef STRATA_ANALYZE_KERNELS_TOP_KERNELS_H
#define STRATA_ANALYZE_KERNELS_TOP_KERNELS_H

#include "analyze/kernels/kernel_stats.h"

struct top_kernels {
    struct kernel_stats by_op; /* by total time; wall_ns of those with the largest headroom */
    double roof_pct;           /* all kernels, where known; NaN when too little is */
    struct kernel_family_sum families[FAMILY_COUNT]; /* by total time */
    uint32_t n_families;
    double families_ns; /* their totals added */
};

extern const struct pass top_kernels_pass;

static inline const struct top_kernels *top_kernels_of(const struct context *cx)
{
    return context_kept(cx, PASS_TOP_KERNELS);
}

#endif
