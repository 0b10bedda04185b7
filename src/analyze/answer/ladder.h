/* ladder.h: how far down the wall clock can go, rung by rung.
 *
 *     now                         30.9 ms
 *     1  launch-bound loop         6.7 ms     after each finding that predicts a gain, in order
 *     the GPU alone                2.3 ms     its work back to back: no fix of the CPU goes below
 *     each kernel at its roof      1.1 ms     at the rates that the GPU reaches, where known;
 *                                             fusing kernels can go below it
 *
 * All of it without the profiler. */
#ifndef STRATA_ANALYZE_ANSWER_LADDER_H
#define STRATA_ANALYZE_ANSWER_LADDER_H

#include "analyze/findings/finding.h"

enum rung_kind { RUNG_NOW, RUNG_FIX, RUNG_GPU, RUNG_ROOF };

struct rung {
    enum rung_kind kind;
    const char *name;
    uint32_t finding; /* its place in the findings, from 1; 0 for other rungs */
    int64_t wall_ns;
    double gain_pct; /* of the wall clock now: what this rung takes off the one above */
};

struct ladder {
    struct rung *rungs; /* none where there is no device work or no diagnosis */
    uint32_t n;
    int64_t gpu_ns;      /* work of the busiest device back to back, everything fixed */
    int64_t roofline_ns; /* at the rates it reaches; -1 when not known */
};

extern const struct pass ladder_pass;

static inline const struct ladder *ladder_of(const struct context *cx)
{
    return context_kept(cx, PASS_LADDER);
}

const char *rung_kind_name(enum rung_kind k); /* "now", "fix", "gpu", "roofline" */

#endif
