/* loop.h: where the rounds of the main loop (denoising steps, training steps, tokens) begin and
 * end on the CPU, and what repeats around and inside them. What they cost is measured by steps.
 *
 * Looked for in this order, and never invented:
 *   1. ProfilerStep#N annotations;
 *   2. annotations that repeat and tile the loop: the period of their sequence, so that the two
 *      forwards of classifier-free guidance and the scheduler's step make one round;
 *   3. the outermost repetition in the outline of the program that is not the layers of a network:
 *      module and function calls, compiled regions and graphs, operators, kernels. */
#ifndef STRATA_ANALYZE_STEPS_LOOP_H
#define STRATA_ANALYZE_STEPS_LOOP_H

#include "analyze/structure/levels.h"

struct loop_round {
    int64_t begin_ns, end_ns; /* to the begin of the next round; the last to its own end */
    int64_t inner_end_ns;     /* end of its last label or launch: before the next round begins */
    str_id name;              /* of its first label, or STR_NONE */
    int64_t number;           /* N of ProfilerStep#N, else -1 */
};

/* A level of repetition. */
struct loop_level {
    struct str name; /* of what is repeated; empty when nothing says */
    enum origin from;
    uint32_t count;     /* rounds in all */
    uint32_t per_outer; /* rounds in a round of the level around it: the median */
    int64_t median_ns;
    bool layers;        /* parts in a row, not the same thing again */
    bool calls;         /* each round is one call of something and nothing else */
    struct span *spans; /* the rounds, `count` of them; NULL for labels around the steps */
};

struct loop {
    enum origin found;
    struct loop_round *rounds; /* ascending, apart */
    uint32_t n_rounds;
    uint32_t period;  /* labels or launches a round */
    lane_id lane;     /* the thread the rounds were found on, or LANE_NONE */
    uint32_t process; /* its process; UINT32_MAX when not known */
    bool are_units;   /* as many as the recorder saw units: no parts of one */
    bool on_device;   /* rounds are times on the device: its work has no launches in the trace */

    /* all that repeats, outer to inner; list[steps] are the rounds, n when there are none */
    struct loop_level levels[LEVELS_MOST];
    uint32_t n_levels, steps;
};

/* Needs the outline. Memory from cx->mem. */
int loop_find(const struct context *cx, struct loop *ret, struct err *e) MUST_USE;

/* All of the trace as one round: a single call was recorded. */
int loop_whole(const struct context *cx, struct loop *ret, struct err *e) MUST_USE;

#endif
