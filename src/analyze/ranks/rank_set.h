/* rank_set.h: many ranks of one program: which collectives belong together, by how much the clocks
 * of the hosts differ, who came last and by how much, and who keeps the others waiting.
 *
 *     rank 0   ====[----------wait----------|transfer]
 *     rank 1   ==========[------wait--------|transfer]
 *     rank 2   =============================[transfer]      came last
 *
 * A collective in which every rank needs the data of all ends everywhere at the same time. So
 * the rank that came last is the one on which it is shortest, and that length is the transfer:
 * neither needs clocks that agree. Clocks are aligned on those ends for everything else. */
#ifndef STRATA_ANALYZE_RANKS_RANK_SET_H
#define STRATA_ANALYZE_RANKS_RANK_SET_H

#include "analyze/ranks/rank_summary.h"

struct rank_member {
    uint32_t rank;   /* index in the set */
    uint32_t event;  /* index in its events */
    int64_t wait_ns; /* from its arrival to that of the last rank */
    float after_ns;  /* its arrival after the median one, by its own doing; 0 when not late */
    float late_ns;   /* its share of the waiting after the median arrival: ranks that are not
                        there at the same time share it */
};

struct rank_collective {
    const char *group; /* its name for people */
    int64_t seq;       /* number in its group */
    enum collective what;
    uint32_t ranks; /* of its group, also those that are missing; 0 when not known */
    bool numbered;  /* matched by a number that was recorded, not by order */
    bool early;     /* of a start-up, which no rank is blamed for */
    int64_t bytes;  /* the most of any rank, -1 when not known */
    struct rank_member *members;
    uint32_t n;
    uint32_t last; /* member that came last */
    int64_t transfer_ns, spread_ns;
    int64_t
        usual_ns;   /* transfers of its kind and size, with other groups; -1 when there are none */
    int64_t end_ns; /* by the clock of the first rank, since the begin of the set */
};

struct rank_clock {
    bool aligned;     /* false: it shares no collective with the others */
    double offset_ns; /* what to add to its clock at `at_ns` */
    double drift;     /* and per nanosecond after that */
    int64_t at_ns;
    double error_ns; /* that remains: nine of ten ends differ by less */
};

enum rank_cause {
    RANK_CAUSE_UNKNOWN,
    RANK_CAUSE_SLOW_KERNEL, /* some kernels take longer than elsewhere */
    RANK_CAUSE_SLOW_CLOCK,  /* all of them do */
    RANK_CAUSE_MORE_WORK,   /* it has more of them */
    RANK_CAUSE_COPIES,
    RANK_CAUSE_SYNC,
    RANK_CAUSE_DATA,
    RANK_CAUSE_GC,
    RANK_CAUSE_HOST,
    RANK_CAUSE_LAUNCH,
    RANK_CAUSE_IDLE,
    RANK_CAUSE_SLOW_LINK, /* transfers of its groups take longer than those of others */
};

struct rank_straggler {
    uint32_t rank; /* index in the set */
    int64_t late_ns;
    uint32_t collectives; /* it came late to */
    enum rank_cause cause;
    int64_t cause_ns;        /* of late_ns, as far as measured */
    int64_t extra_ns;        /* what it does longer than the others: no more can be gained, though
                                ranks that run ahead wait for it again and again; 0: not measured */
    struct rank_place place; /* of the cause; name is NULL when not known */
    double ratio;            /* RANK_CAUSE_SLOW_*: how much longer than elsewhere */
};

/* One stretch of the critical path: what the rank that came last to a collective did before it, and
 * the transfer. */
struct rank_hop {
    uint32_t collective; /* index in list */
    int64_t start_ns, own_ns, transfer_ns;
};

/* Ranks that hand work to each other in a chain. Which of two neighbours comes later to a message
 * follows from the schedule: neither is late. */
struct rank_pipeline {
    uint32_t ranks;     /* 0 when there is none, or its bubbles are small */
    bool *stage;        /* by index in the set: one of them */
    uint32_t *next;     /* by index in the set: a rank it exchanges messages with, or UINT32_MAX */
    int64_t *bubble_ns; /* by index in the set: waits for the others, and nothing else runs */
    double bubble_pct;  /* of the wall clock of all ranks */
    double uneven_pct;  /* of it: because stages compute for different times */
    uint32_t slowest;   /* stage that computes longest, index in the set */
    double ratio;       /* by the mean of the others */
};

/* Compute between two all-to-alls, the one that hands out tokens and the one that collects them. */
struct rank_experts {
    bool found;
    double wait_pct;   /* of the wall clock: the busiest rank less the mean */
    double ratio;      /* compute of the busiest rank by the mean */
    double size_ratio; /* the same of message sizes; 0 when not known */
    uint32_t busiest;  /* the rank that most often is */
    double often;      /* share of the times */
};

struct rank_set {
    struct rank_summary *ranks; /* by rank */
    uint32_t n;
    int world;
    int *missing; /* ranks that are not there */
    uint32_t n_missing;
    struct rank_summary *twice; /* files left out: their rank is there already */
    uint32_t n_twice;
    struct rank_clock *clocks;    /* by index in the set */
    struct rank_collective *list; /* in order of their ends */
    uint32_t n_list;
    uint64_t unmatched;                /* collectives of single ranks that no other rank has */
    int64_t *wait_ns;                  /* by index in the set: in all collectives */
    struct rank_straggler *stragglers; /* most late first */
    uint32_t n_stragglers;
    struct rank_hop *path; /* the critical path, in order of time */
    uint32_t n_path;
    int64_t *path_own_ns;     /* by index in the set: own time of the rank on it */
    int64_t path_transfer_ns; /* and of all transfers */
    int64_t path_ns;          /* both together */
    int64_t begin_ns;         /* first begin of any rank */
    int64_t step_ns;          /* median over ranks */
    struct rank_pipeline pipeline;
    struct rank_experts experts;
};

/* `list` has room for `n` summaries and is sorted in place; memory from `mem`. */
int rank_set_run(struct rank_summary *list, uint32_t n, struct arena *mem, struct rank_set *ret,
                 struct err *e) MUST_USE;

/* A time of the rank by the common clock, since the begin of the set. */
int64_t rank_set_time(const struct rank_set *s, uint32_t rank, int64_t ts_ns);

/* What each link had to carry of a collective, in bytes per second of its transfer; 0 when not
 * known.
 */
double rank_collective_bus(const struct rank_collective *c);

const char *rank_cause_name(enum rank_cause c);  /* stable, for JSON: "slow_kernel" */
const char *rank_cause_words(enum rank_cause c); /* for people: "slower kernels" */

#endif
