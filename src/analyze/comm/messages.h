/* messages.h: what communication kernels carry: which collective, of which process group, how many
 * bytes, and so how fast. Recorders write that beside the kernel, beside the call that launched it
 * (record_param_comms) or not at all: then the annotation around the launch is all there is.
 *
 * The algorithm bandwidth is the size of the message by its time; the bus bandwidth is what a link
 * had to carry for it, which compares with the hardware whatever the number of ranks. Time spent
 * waiting for other ranks is in it: the fastest call of a kind says more than their mean. */
#ifndef STRATA_ANALYZE_COMM_MESSAGES_H
#define STRATA_ANALYZE_COMM_MESSAGES_H

#include "analyze/comm/comm.h"
#include "analyze/names/collective.h"

struct message {
    uint32_t work; /* index in comm->works */
    uint32_t kind; /* index in kinds */
    enum collective what;
    uint32_t group; /* index in groups */
    int64_t bytes;  /* of the whole message: the larger of what goes in and comes out; -1 unknown */
    int64_t seq;    /* number in its group, or -1 when not recorded */
};

struct message_group {
    struct str name;        /* as recorded; empty when not known */
    struct str description; /* "default_pg"; may be empty */
    struct str members;     /* "[0, 1]" as recorded, may be empty or cut; "0 to 1" */
    int64_t ranks;          /* 0 when not known */
    uint32_t calls;
    int64_t time_ns, exposed_ns; /* durations added; exposed moments count once */
};

/* The messages of one collective in one group. */
struct message_kind {
    enum collective what;
    uint32_t group;
    row_t example; /* its longest kernel */
    uint32_t calls, n_sized;
    int64_t bytes; /* of those whose size is known */
    int64_t time_ns, exposed_ns;
    int64_t shortest_ns, median_ns, longest_ns;
    double algo_bytes_per_s, best_algo_bytes_per_s; /* median and best; 0 when not known */
    double bus_factor;                              /* bus by algorithm bandwidth; 0 unknown */
};

struct messages {
    struct message *list; /* as comm->works */
    uint32_t n;
    struct message_group *groups;
    uint32_t n_groups;
    struct message_kind *kinds; /* most exposed time first, then most time */
    uint32_t n_kinds;
};

extern const struct pass messages_pass;

static inline const struct messages *messages_of(const struct context *cx)
{
    return context_kept(cx, PASS_MESSAGES);
}

#endif
