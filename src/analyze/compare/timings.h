/* timings.h: what timing files say of runs: rows, ranks, differences. */
#ifndef STRATA_ANALYZE_COMPARE_TIMINGS_H
#define STRATA_ANALYZE_COMPARE_TIMINGS_H

#include "analyze/compare/compare_constants.h"
#include "analyze/compare/diff_stats.h"
#include "format/timing.h"
#include "trace/trace.h"

/* timing_diff.c: the stages of runs, side by side: what changed, and is it more than chance.
 *
 * A run gives one sample per stage, its median call; the samples of both sides are compared as
 * diff_stats.h does it. One or two runs per side show a change but give no verdict: two runs of the
 * same program on a busy machine differ in most of their stages. */

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

/* Both sides must outlive `ret`. */
int timing_diff_run(struct timing_side before, struct timing_side after, struct arena *mem,
                    struct timing_diff *ret, struct err *e) MUST_USE;

/* timing_ranks.c: the same stages on several ranks: how evenly the work is spread, and which rank
 * the others wait for.
 *
 * The straggler is not the rank with the largest numbers: where ranks meet (all-reduce, barrier) it
 * is the others that stay long, waiting. It is the rank that is alone in being slow: its time above
 * that of the next slowest, added over the stages where ranks do not meet. If no stage is slow, it
 * is the rank that waits least where ranks meet, and so came last. */

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
    uint64_t lost_records;
    uint32_t n_recovered, n_running; /* made from rings; written before their end */

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

/* timing_rows.c: the ranges of a recording added up by stage, as the Python package does it while a
 * program runs: for programs that could not, because they were killed or are not Python.
 *
 * A range inside a range of the same name is the same stage again: it is not counted, its time is
 * in the outer one. Ranges left by an exception and ranges never ended are counted apart. Further
 * turns of a generator belong to the call before them. */

/* Which ranges are added up. */
struct timing_rows_of {
    uint32_t process;
    int64_t since_ns; /* those that end later; INT64_MIN for all */
    int64_t begin_ns; /* of the process; the wall clock goes from here to its last row, or with
                         INT64_MIN over the ranges */
    bool named;       /* only those that the program named, not derived ones */
    bool stages;      /* only those marked with strata: a timeline holds torch's ranges, too */
};

/* Fills wall, total and stages of `ret` from the ranges of a process; the rest is the caller's.
 * n_stages is 0 when there are none. The wall clock starts at `since_ns`, or else with `begin_ns`.
 * Ranges of torch that strata.run makes stages of have the names of those. */
int timing_rows_run(const struct trace *t, const struct timing_rows_of *of, struct arena *mem,
                    struct timing *ret, struct err *e) MUST_USE;

#endif
