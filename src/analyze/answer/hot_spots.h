/* hot_spots.h: which operators and lines hold the time of a device that is the limit, and the most
 * that each could gain. Where no rule explains the time, these are where to look.
 *
 * A spot is what one line of the user's program calls. Kernels of a compiler stand at the line that
 * they were made from, where the compiler says so. The gain is a replay in which the operators and
 * their kernels never happen: no change of these gains more. */
#ifndef STRATA_ANALYZE_ANSWER_HOT_SPOTS_H
#define STRATA_ANALYZE_ANSWER_HOT_SPOTS_H

#include "analyze/gaps/wall.h"

#define HOT_SPOTS_MOST 4

struct hot_spot {
    const char *what;  /* the operator; the kernel where no operator is known */
    const char *where; /* "cases.py:130 in sample"; NULL when the trace has no line of it */
    const char *kind;  /* of work: the family of its first kernel */
    uint64_t kernels;
    int64_t gpu_ns;
    double share_pct; /* of all device work */
    double roof_pct;  /* of what the device can do; NaN where that is known for too little of it */
    int64_t gain_ns;
    double gain_pct; /* of the wall clock without the profiler */
};

struct hot_spots {
    struct hot_spot list[HOT_SPOTS_MOST]; /* most time first; none where the GPU is not the limit */
    uint32_t n;
};

extern const struct pass hot_spots_pass;

static inline const struct hot_spots *hot_spots_of(const struct context *cx)
{
    return context_kept(cx, PASS_HOT_SPOTS);
}

#endif
