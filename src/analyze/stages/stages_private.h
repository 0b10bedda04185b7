/* stages_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_STAGES_STAGES_PRIVATE_H
#define STRATA_ANALYZE_STAGES_STAGES_PRIVATE_H

#include "analyze/stages/stages.h"

/* stage_parts.c: the parts of the program without a label, from the structure found in it:
 * module and function calls, steps, layers, forward and backward, compiled regions. None where the
 * user's own labels hold most of the work. */
int stage_parts_find(const struct context *cx, struct stage_parts *ret, struct err *e) MUST_USE;

/* unlabelled.c: what happens between the stages: the glue code without a label. */

/* Fills s->between; the list of stages must be complete. */
int unlabelled_run(const struct context *cx, struct stages *s, struct err *e) MUST_USE;

/* odd_units.c: what the unit that a snapshot was taken for is compared with: calls of the outermost
 * stage around what was slow, or steps of the loop, each with what it cost. */

struct odd_unit {
    struct span at;
    lane_id lane;
    int64_t blocked_ns, gpu_ns;
    int64_t launches, syncs;
    uint32_t number; /* in time order, from 0 */
};

struct odd_units {
    struct odd_unit *list; /* by thread and time */
    uint32_t n;
    uint32_t odd;    /* the one that the snapshot was taken for */
    struct str name; /* "request", "step" */
    bool before;     /* each with what its thread did since the one before, waiting included */
};

/* ret->n is 0 where there are too few. Memory from cx->mem. */
int odd_units_find(const struct context *cx, const struct snapshot_mark *shot,
                   struct odd_units *ret) MUST_USE;

/* The unit that a row of a thread lies in, or UINT32_MAX. */
uint32_t odd_units_at(const struct odd_units *u, lane_id lane, int64_t ts_ns);

#endif
