/* timing_diff.h: two timing.json files, stage by stage: what changed, and is it more than chance.
 *
 * Calls of a stage are taken as samples. The verdict asks whether the mean has moved by more than
 * the calls scatter (Welch's test, 99 %); with fewer than three calls per side it does not judge.
 * The first call, which compiles and warms up, is left out of the means where there are others. */
#ifndef STRATA_ANALYZE_COMPARE_TIMING_DIFF_H
#define STRATA_ANALYZE_COMPARE_TIMING_DIFF_H

#include "format/timing.h"

enum timing_verdict { TIMING_UNKNOWN, TIMING_SAME, TIMING_FASTER, TIMING_SLOWER, TIMING_ONE_SIDE };

struct timing_change {
    const char *path, *name;
    const struct timing_stage *before, *after; /* NULL where the stage does not exist */
    double change_pct;                         /* of the median call, NAN when there is none */
    enum timing_verdict verdict;
};

struct timing_diff {
    const struct timing *before, *after;
    struct timing_change *changes; /* stages of the one, then those only the other has */
    uint32_t n;
    uint32_t n_faster, n_slower;
};

/* Both must outlive `ret`. */
int timing_diff_run(const struct timing *before, const struct timing *after, struct arena *mem,
                    struct timing_diff *ret, struct err *e) MUST_USE;

#endif
