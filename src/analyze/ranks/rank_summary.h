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
#include "base/intern.h"

enum rank_counter {
    RANK_COMPUTE,     /* time kernels that are not communication run */
    RANK_COPIES,      /* time copies run, and no such kernel */
    RANK_IDLE_SYNC,   /* idle time: the CPU waits for the device */
    RANK_IDLE_DATA,   /* ... waits for a batch */
    RANK_IDLE_GC,     /* ... collects garbage */
    RANK_IDLE_HOST,   /* ... runs Python or other code that launches nothing */
    RANK_IDLE_LAUNCH, /* ... cannot launch fast enough */
    RANK_IDLE_OTHER,
    RANK_TIMES
};

#define RANK_GROUPS ((1u << 26) - 1) /* the most there can be */

/* Thousands of ranks have thousands each: small. */
struct rank_event {
    int64_t begin_ns, end_ns;   /* by the clock of the rank's host, since 1970 */
    int64_t bytes;              /* -1 when not known */
    int32_t seq;                /* number in its group, its low bits; -1 when not known */
    uint32_t group : 26;        /* index in groups */
    uint32_t what : 6;          /* enum collective */
    uint32_t work;              /* index in comm->works of its trace, or its row without a device */
    uint32_t kernels;           /* run since the end of its collective before this one */
    float exposed_ns;           /* of it: nothing else ran */
    float unit_ns;              /* of `since` */
    uint16_t since[RANK_TIMES]; /* what the rank did meanwhile; all 0 when it ran beside that one */
};

/* Sets and reads `since`; exact to a hundred-thousandth of the largest of them. */
void rank_event_set(struct rank_event *e, const int64_t *ns);
static inline int64_t rank_event_since(const struct rank_event *e, int counter)
{
    return (int64_t)((double)e->since[counter] * (double)e->unit_ns + 0.5);
}

/* Where something happens, as text. */
struct rank_place {
    const char *name;     /* function, operator, kernel or label */
    const char *file;     /* NULL when not known */
    int32_t line;         /* 0 when not known */
    const char *function; /* NULL when not known */
    const char *stage;    /* label around it, or NULL */
};

/* What something costs on one rank. Ranks are compared by name and stage. */
struct rank_cost {
    const char *name;
    enum rank_counter reason; /* RANK_COMPUTE of a kernel; else what kind of time on the CPU */
    uint32_t calls;
    int64_t total_ns;
    int64_t tail_ns; /* of total_ns: after the CPU has launched the last collective */
    double blocks;   /* of threads, per call; 0 when not recorded */
    struct rank_place place;
};

struct rank_costs {
    struct rank_cost *list; /* most time first */
    uint32_t n;
};

struct rank_summary {
    const char *path;
    int part;  /* its number in a recording of several, -1 when the path is its own */
    int rank;  /* -1 when not known */
    int world; /* 0 when not known */
    const char *host;
    int64_t begin_ns; /* of the trace, since 1970 */
    int64_t from_ns; /* no rank is late before: the loop of a recording that has the start-up too */
    int64_t wall_ns, compute_ns, comm_ns, exposed_ns, idle_ns; /* from then on */
    bool has_device; /* or else these are of its threads */
    uint32_t n_steps;
    int64_t step_ns;           /* mean, on the device; the wall clock where there is no loop */
    struct rank_event *events; /* collectives of the busiest device, by begin */
    uint32_t n_events;
    const char **groups; /* name and members, the same text on all ranks of a group */
    const char **group_names;
    uint32_t *group_sizes; /* in ranks, 0 when not known */
    uint32_t n_groups;
    struct rank_costs kernels;
    struct rank_costs idle;      /* time of an idle device, by what its CPU does meanwhile */
    struct rank_costs functions; /* and operators, calls: by the time spent in themselves */
    bool host_only;              /* its collectives run on threads of the CPU */
};

/* Where summaries lie, each text once: ranks of one program have most of them in common. */
struct rank_store {
    struct arena mem;
    struct intern texts;
};

int rank_store_init(struct rank_store *s, struct err *e) MUST_USE;
void rank_store_done(struct rank_store *s);

/* The number after the last "rank" in a file name ("rank3.json", "trace_rank_12_x.json.gz"), or -1.
 */
int rank_in_name(const char *path);

/* Computes the passes it is made from. The store outlives the context. */
int rank_summary_run(struct context *cx, const char *path, struct rank_store *store,
                     struct rank_summary *ret, struct err *e) MUST_USE;

#endif
