/* ranks.h: the same stages on several ranks: how evenly the work is spread, and which rank the
 * others wait for.
 *
 * The straggler is not the rank with the largest numbers: where ranks meet (all-reduce, barrier) it
 * is the others that stay long, waiting. It is the rank that is alone in being slow: its time above
 * that of the next slowest, added over the stages where ranks do not meet. If no stage is slow, it
 * is the rank that waits least where ranks meet, and so came last. */
#ifndef STRATA_ANALYZE_COMPARE_RANKS_H
#define STRATA_ANALYZE_COMPARE_RANKS_H

#include "format/timing.h"

struct rank_stage {
    const char *path, *name;
    uint32_t n_ranks; /* that have it */
    uint64_t count;   /* the most on any rank */
    int64_t min_ns, max_ns, mean_ns;
    int64_t gpu_max_ns, peak_bytes;
    int min_rank, max_rank;
    const struct timing_stage *slowest; /* as it was on max_rank */
    uint64_t errors;                    /* on all ranks */
    double imbalance_pct;               /* how far the slowest is above the mean */
    bool meeting;                       /* the ranks wait for each other here, by its name */
};

struct ranks {
    const struct timing *list;
    uint32_t n;
    int world; /* ranks there should be, or -1 */
    struct rank_stage *stages;
    uint32_t n_stages;
    const struct timing_stage **at; /* [stage * n + i]: as it was on the i-th rank, or NULL */
    int64_t wall_max_ns;
    uint32_t n_workers; /* processes that were added to those above; set by the caller */

    int straggler;          /* its rank, or -1 when none stands out */
    uint32_t straggler_in;  /* the stage where it loses most, or UINT32_MAX: outside the stages */
    int64_t excess_ns;      /* time it is slower than the next slowest, or they wait for it */
    int64_t straggler_ns;   /* its time in that stage, */
    int64_t others_ns;      /* and the mean of the others */
    uint32_t waiting_in;    /* where the others wait for it, or UINT32_MAX */
    int64_t others_wait_ns; /* mean of what they spend there beyond the straggler */
};

/* `list` must outlive `ret`. Processes that are not ranks are given numbers in order. */
int ranks_run(const struct timing *list, uint32_t n, struct arena *mem, struct ranks *ret,
              struct err *e) MUST_USE;

#endif
