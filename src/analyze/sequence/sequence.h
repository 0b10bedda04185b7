/* sequence.h: all device work in the order in which it was launched, a unit of the program at a
 * time, each piece with a token: equal tokens are the same kernel, launched alike, by the same
 * operator on the same shapes where those were recorded.
 *
 *     unit 0   thread 1    a b c b c d          forward
 *              thread 2    d' c' b' c' b' a'    what autograd launched
 *     unit 1   ...
 *
 * A unit is a step; all of the trace where no steps were found. Threads stand one after the other,
 * the one that launched first in front, so that what two threads launch at once does not mix. */
#ifndef STRATA_ANALYZE_SEQUENCE_SEQUENCE_H
#define STRATA_ANALYZE_SEQUENCE_SEQUENCE_H

#include "analyze/context.h"

enum launched_flag {
    LAUNCHED_BACKWARD = 1, /* by autograd: on its thread, or below one of its nodes */
    LAUNCHED_AGAIN = 2,    /* below a node by an operator that autograd takes note of: a part of the
                              forward pass that is computed in the backward pass */
};

struct launched {
    row_t work, call;
    row_t op; /* the operator that launched it, or ROW_NONE */
    lane_id thread;
    uint32_t token;
    uint32_t unit;
    uint8_t flags; /* enum launched_flag */
};

struct sequence {
    struct launched *items; /* by unit, thread, time */
    uint32_t n;
    uint32_t *unit_begin; /* items of unit i: [unit_begin[i], unit_begin[i + 1]) */
    uint32_t n_units;
    uint32_t n_tokens;
    uint8_t *autograd; /* by lane: runs backward passes for another thread */
    bool trains;       /* something runs backward */
    bool has_ops;      /* operators were recorded */
};

extern const struct pass sequence_pass;

static inline const struct sequence *sequence_of(const struct context *cx)
{
    return context_kept(cx, PASS_SEQUENCE);
}

#endif
