/* no_gain.h: what is reported if the GPU is idle and the findings do not account for it: what fills
 * the time, and why no gain is predicted. */
#ifndef STRATA_ANALYZE_ANSWER_NO_GAIN_H
#define STRATA_ANALYZE_ANSWER_NO_GAIN_H

#include "analyze/context.h"

#define NO_GAIN_FILLS 6

struct time_fill {
    const char *kind; /* of the cause of idle time, for JSON; "outside" before and after all work */
    const char *what; /* "forward (Python)" */
    int64_t idle_ns;
    double share_pct; /* of the wall clock */
};

struct no_gain {
    struct time_fill fills[NO_GAIN_FILLS]; /* most first; none where the GPU works enough */
    uint32_t n_fills;
    bool in_graphs;     /* graphs launch most of the work already */
    bool unexplained;   /* the findings predict less than half of the idle time */
    const char *reason; /* why no gain worth it is predicted; NULL where one is, or none is
                         * missed */
};

extern const struct pass no_gain_pass;

static inline const struct no_gain *no_gain_of(const struct context *cx)
{
    return context_kept(cx, PASS_NO_GAIN);
}

#endif
