/* launchless.h: CPU work that puts nothing on the device. A gap that falls into such work can be
 * charged to a whole call, not to a slice of it: the outermost row around the moment in which
 * nothing is launched and nothing waited for.
 *
 *     step          [ launches ...  [cache_context [walk [len] [len]]]  launches ... ]
 *     quiet call                    |-------------------------------|
 *
 * Without it a walk over all modules would be a thousand small reasons instead of one. */
#ifndef STRATA_ANALYZE_GAPS_LAUNCHLESS_H
#define STRATA_ANALYZE_GAPS_LAUNCHLESS_H

#include "analyze/gaps/gaps.h"

/* Calls of one function, op or label that hold up devices without launching anything. */
struct launchless_group {
    str_id name;   /* what they are grouped by: the name of `blamed` */
    row_t longest; /* the longest outermost quiet row */
    row_t blamed;  /* the user's own frame in it, where it begins in somebody else's code */
    row_t *rows;   /* those that lie in idle time, by thread and time */
    uint32_t n_rows;
    int64_t cpu_ns;   /* their durations */
    int64_t idle_ns;  /* idle time of devices charged to them */
    uint32_t n_steps; /* steps of the loop they appear in */
};

struct launchless {
    struct launchless_group *groups; /* most idle time first */
    uint32_t n_groups;
    int64_t
        loud_ns; /* idle time while the CPU was inside something that launches: its own overhead */
};

extern const struct pass launchless_pass;

static inline const struct launchless *launchless_of(const struct context *cx)
{
    return context_kept(cx, PASS_LAUNCHLESS);
}

#endif
