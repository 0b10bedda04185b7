/* rank_summary.h: what is kept of the trace of one rank: small, whatever the size of the trace, so
 * that thousands of ranks fit side by side. Nothing in it refers to the trace.
 *
 * Counters run through the trace (compute so far, idle time so far, by reason); their differences
 * between two collectives say what a rank did in between, and compared with those of other ranks,
 * why it came late. */
#ifndef STRATA_ANALYZE_RANKS_RANK_SUMMARY_H
#define STRATA_ANALYZE_RANKS_RANK_SUMMARY_H

#include "analyze/comm/messages.h"
#include "analyze/context.h"

enum rank_counter {
    RANK_COMPUTE,     /* time kernels that are not communication run */
    RANK_COPIES,      /* time copies run, and no such kernel */
    RANK_IDLE_SYNC,   /* idle time: the CPU waits for the device */
    RANK_IDLE_DATA,   /* ... waits for a batch */
    RANK_IDLE_GC,     /* ... collects garbage */
    RANK_IDLE_HOST,   /* ... runs Python or other code that launches nothing */
    RANK_IDLE_LAUNCH, /* ... cannot launch fast enough */
    RANK_IDLE_OTHER,
    RANK_KERNELS, /* a number, not a time */
    RANK_COUNTERS
};
#define RANK_TIMES RANK_KERNELS /* the counters before it are times */

struct rank_event {
    int64_t begin_ns, end_ns; /* by the clock of the rank's host, since 1970 */
    uint32_t group;           /* index in groups */
    uint32_t work;            /* index in comm->works of its trace, or its row without a device */
    enum collective what;
    int64_t bytes, seq;         /* -1 when not known */
    float since[RANK_COUNTERS]; /* what the rank did since the end of its collective before this
                                   one; 0 when it ran beside that */
};

/* Where something happens, as text. */
struct rank_place {
    const char *name;     /* function, operator, kernel or label */
    const char *file;     /* NULL when not known */
    int32_t line;         /* 0 when not known */
    const char *function; /* NULL when not known */
    const char *stage;    /* label around it, or NULL */
};

struct rank_kernel {
    const char *name;
    uint32_t calls;
    int64_t total_ns;
    double blocks;            /* of threads, per call; 0 when not recorded */
    enum rank_counter reason; /* of a function: what kind of work on the CPU */
    struct rank_place place;
};

struct rank_summary {
    const char *path;
    int rank;  /* -1 when not known */
    int world; /* 0 when not known */
    const char *host;
    int64_t begin_ns; /* of the trace, since 1970 */
    int64_t wall_ns, compute_ns, comm_ns, exposed_ns, idle_ns;
    uint32_t n_steps;
    int64_t step_ns;           /* mean, on the device; the wall clock where there is no loop */
    struct rank_event *events; /* collectives of the busiest device, by begin */
    uint32_t n_events;
    int64_t n_work;      /* kernels, copies and fills before the last of them */
    const char **groups; /* name and members, the same text on all ranks of a group */
    const char **group_names;
    uint32_t n_groups;
    struct rank_place idle[RANK_COUNTERS]; /* what costs most of each kind of idle time */
    struct rank_kernel *kernels;           /* most time first */
    uint32_t n_kernels;
    struct rank_kernel *functions; /* and operators, calls: by the time spent in themselves */
    uint32_t n_functions;
    bool host_only; /* it has no device */
};

/* Computes the passes it is made from. Texts and tables in `mem`, which outlives the context. */
int rank_summary_run(struct context *cx, const char *path, struct arena *mem,
                     struct rank_summary *ret, struct err *e) MUST_USE;

#endif
