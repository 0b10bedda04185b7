/* work_op.h: the operator that launched a piece of device work: the one around its launch, where
 * that was recorded; else the one around the launch that it is like in a unit in depth
 * (deep_match.h). All that rules ask of operators they ask of it, so that a timeline says what a
 * recording of every operator says.
 *
 * `t` is the trace in which the rows are: what was cut out of the recording has strings and rows of
 * its own. An operator in which units in depth differ is not known. */
#ifndef STRATA_ANALYZE_KERNELS_WORK_OP_H
#define STRATA_ANALYZE_KERNELS_WORK_OP_H

#include "analyze/context.h"

struct work_op {
    const struct trace *t;
    row_t work; /* the work, or its like */
    row_t call; /* its launch, or ROW_NONE */
    row_t op;   /* the innermost operator; ROW_NONE: not known */
    bool same;  /* that work is the same: shapes of the operator are those of the work */
};

/* Needs roofline_pass. */
struct work_op work_op_of(const struct context *cx, row_t work);

/* The same with the nearest operator, from the innermost one outwards, whose name contains `part`;
 * .op is ROW_NONE where there is none. */
struct work_op work_op_under(const struct context *cx, row_t work, const char *part);

static inline struct str work_op_name(struct work_op o)
{
    return o.op == ROW_NONE ? str_c("") : trace_name(o.t, o.op);
}

/* What the operator was called with; NULL where that is not known of this work. */
static inline const struct op_info *work_op_info(struct work_op o)
{
    return o.op == ROW_NONE || !o.same ? NULL : trace_op(o.t, o.op);
}

#endif
