/* timing_diff.h: the stages of runs, side by side: what changed, and is it more than chance.
 *
 * A run gives one sample per stage, its median call; the samples of both sides are compared as
 * diff_stats.h does it. One or two runs per side show a change but give no verdict: two runs of the
 * same program on a busy machine differ in most of their stages. */
#ifndef STRATA_ANALYZE_COMPARE_TIMING_DIFF_H
#define STRATA_ANALYZE_COMPARE_TIMING_DIFF_H

#include "analyze/compare/diff_stats.h"
#include "format/timing.h"

#define TIMING_MOST_RUNS 256

enum timing_verdict { TIMING_UNKNOWN, TIMING_SAME, TIMING_FASTER, TIMING_SLOWER, TIMING_ONE_SIDE };

/* The runs of one side. */
struct timing_side {
    const struct timing *runs;
    uint32_t n; /* at most TIMING_MOST_RUNS */
};

struct timing_change {
    const char *path, *name;
    const struct timing_stage *before, *after; /* of the first run that has it; NULL: none has */
    struct diff_stats stats;                   /* of the median calls */
    double change_pct;                         /* that of `stats`; NAN when there is none */
    int64_t peak_bytes[2];                     /* the most of any run; -1 when not recorded */
    enum timing_verdict verdict;
};

struct timing_diff {
    struct timing_side side[2];
    struct timing_change *changes; /* stages of the one, then those only the other has */
    uint32_t n;
    uint32_t n_faster, n_slower;
    struct diff_stats wall;
};

/* Runs of one side that are further apart than this were made on a busy machine. */
#define TIMING_BUSY_PCT 10

/* Both sides must outlive `ret`. */
int timing_diff_run(struct timing_side before, struct timing_side after, struct arena *mem,
                    struct timing_diff *ret, struct err *e) MUST_USE;

#endif
