/* op_nest.h: adds the rows of one lane up into groups. The heart of the table.
 *
 * A thread's rows come by start, longest first, so a stack of open spans is the nesting: a row is a
 * child of the innermost span that has not ended before it starts and does not end before it ends.
 * A span is added to its group when it leaves the stack, with what its direct children took. */
#ifndef STRATA_ANALYZE_OPS_OP_NEST_H
#define STRATA_ANALYZE_OPS_OP_NEST_H

#include "analyze/names/op_forward.h"
#include "analyze/ops/op_by.h"
#include "analyze/ops/op_groups.h"
#include "analyze/ops/op_links.h"
#include "base/map.h"
#include "trace/trace.h"

/* What all workers read. */
struct op_pass {
    const struct trace *t;
    const struct op_table_opts *opts;
    struct op_links links;
    struct op_memory memory;
    struct op_forward forward; /* filled when rows are split by frames */
    const char *vendor;
    int64_t annotation_excess_ns; /* what the recorder adds to device-side annotations */
};

struct op_span;

/* FLOPs by shapes, for operators that come again and again. */
#define OP_FLOPS_KEPT 64
struct op_flops_kept {
    str_id dims, concrete;
    enum op_flops_kind kind;
    uint64_t flops;
};

/* One worker's state. */
struct op_nest {
    struct op_pass *pass;
    struct op_groups groups;
    struct op_span *stack;
    size_t depth, cap;
    lane_id lane;                  /* the thread being added */
    struct op_memory_line *memory; /* of the lane's process */
    uint32_t memory_at;            /* first event at or after the latest start */
    uint64_t n_unfinished;
    struct op_flops_kept kept[OP_FLOPS_KEPT];
    bool failed; /* memory ran out */
};

void op_nest_init(struct op_nest *n, struct op_pass *pass);
void op_nest_done(struct op_nest *n);

/* Adds a lane, whatever its kind: threads by nesting, devices row by row. */
void op_nest_lane(struct op_nest *n, lane_id lane);

#endif
