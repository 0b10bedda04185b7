/* targets.h: the kernels of a trace that are worth a closer look.
 *
 * Ranked by exposed time: the time in which nothing else ran on the device, so that a kernel hidden
 * behind another one does not count. Launches of one kernel (same template, same functor) are one
 * target whatever their sizes, and the size that costs most stands for them; of its launches the
 * first typical one after the warm-up is measured. */
#ifndef STRATA_DIVE_TARGETS_H
#define STRATA_DIVE_TARGETS_H

#include "analyze/kernels/kernel_stats.h"
#include "analyze/steps/steps.h"

struct target {
    struct str name; /* readable, in full */
    struct str short_name;
    enum kernel_family family;
    struct kernel_config config; /* the size that costs most */
    uint32_t n_configs;
    row_t row;        /* its first steady launch that takes as long as they do on average */
    uint32_t ordinal; /* of it, among launches of this kernel and size, from 0 */
    int64_t row_ns;   /* and how long it takes */
    uint64_t calls;   /* of the kernel, in all sizes */
    uint64_t graph_calls;
    uint64_t config_calls;
    int64_t config_ns; /* durations of those, added */
    int64_t exposed_ns;
    double share_pct; /* of all exposed time */
};

struct targets {
    struct target *all; /* most exposed time first */
    uint32_t n;
    uint32_t n_kernels;    /* different ones in the trace */
    uint32_t n_unmeasured; /* left out because they wait for other GPUs */
    double covered_pct;    /* of all exposed time */
};

struct targets_wish {
    uint32_t top;
    const char *filter; /* only kernels whose name matches; NULL for all */
};

/* Memory from `mem`. ERR_USAGE when the filter is not a regular expression. */
int targets_select(const struct context *cx, struct targets_wish wish, struct arena *mem,
                   struct targets *ret, struct err *e) MUST_USE;

/* Time of a launch on average. */
static inline double target_mean_ns(const struct target *t)
{
    return t->config_calls ? (double)t->config_ns / (double)t->config_calls : 0;
}

#endif
