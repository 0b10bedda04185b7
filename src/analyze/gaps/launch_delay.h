/* launch_delay.h: launches that come after a long delay. The CPU is in something that does launch,
 * so nothing of it can be left out, but between two of its launches lies far more time than usual,
 * with no call, no other function and no operator in it: a library plans for a new shape, a thread
 * waits for a lock, C++ works on the host.
 *
 *     thread   [launch] [scaled_dot_product_attention        [launch]]
 *     device     ##.....................................................##
 *     stretch            |----------------------------------|
 *
 * What launches nothing at all is quiet (launchless.c), not a delay. */
#ifndef STRATA_ANALYZE_GAPS_LAUNCH_DELAY_H
#define STRATA_ANALYZE_GAPS_LAUNCH_DELAY_H

#include "analyze/gaps/gaps.h"

struct launch_delay_piece {
    uint32_t group;
    lane_id thread;
    struct span time;
};

/* Stretches in one operator or line of a function: those that come at the same place of several
 * steps, or those that do not. */
struct launch_delay_group {
    row_t row;                         /* of the operator or the user's frame, in the longest one */
    row_t launch, work;                /* the call that ends the longest one, and what it starts */
    struct launch_delay_piece *pieces; /* their CPU time, by thread and time */
    uint32_t n_pieces;
    uint32_t n;       /* stretches; one may be of several pieces */
    uint32_t n_steps; /* steps of the loop they appear in, the first one aside */
    bool again;       /* at the same place of the steps */
    int64_t cpu_ns, idle_ns, longest_ns;
};

struct launch_delays {
    struct launch_delay_group *groups; /* most idle time first */
    uint32_t n_groups;
    int64_t usual_ns; /* median time from one launch to the next on the same thread */
};

extern const struct pass launch_delays_pass;

static inline const struct launch_delays *launch_delays_of(const struct context *cx)
{
    return context_kept(cx, PASS_LAUNCH_DELAYS);
}

/* Whether it is part of the loop: what happens once is warm-up, and what happens now here, now
 * there was a thread that waited for the CPU or for a lock, whatever it was about to launch. */
bool launch_delay_comes_back(const struct launch_delay_group *g, const struct steps *s);

/* CPU time of stretches that come back inside labels called `label`. */
int64_t launch_delays_in(const struct launch_delays *s, const struct context *cx, struct str label);

/* launchless.c: CPU work that puts nothing on the device. A gap that falls into such work can be
 * charged to a whole call, not to a slice of it: the outermost row around the moment in which
 * nothing is launched and nothing waited for.
 *
 *     step          [ launches ...  [cache_context [walk [len] [len]]]  launches ... ]
 *     quiet call                    |-------------------------------|
 *
 * Without it a walk over all modules would be a thousand small reasons instead of one. */

/* Calls of one function, op or label that hold up devices without launching anything. */
struct launchless_group {
    str_id name;   /* what they are grouped by: the name of `blamed` */
    row_t longest; /* the longest outermost quiet row */
    row_t blamed;  /* the user's own frame in it, where it begins in code of others */
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
