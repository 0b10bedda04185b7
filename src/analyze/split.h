/* split.h: takes a gap of a device apart by time, to the nanosecond.
 *
 *     device  ##prev##................................##next##
 *     thread    [sync---]  python  [op [alloc]  ] [launch]
 *     parts           sy|  python  |op |alloc|op| |launch latency|
 *
 * Until the launch of what ended the gap, each moment belongs to the deepest row of the thread
 * that launched it; where that thread was not doing anything yet, to the thread that handed over
 * to it. Times the recorder noted as its own cost are taken out first. After the launch it is the
 * way to the device: latency, a copy being staged, another stream, the nodes of a graph. */
#ifndef STRATA_ANALYZE_SPLIT_H
#define STRATA_ANALYZE_SPLIT_H

#include "analyze/cause.h"
#include "analyze/passes/syncs.h"

struct split {
    const struct trace *t;
    const struct basics *basics;
    const struct syncs *syncs;
    struct causes causes;
    struct where where;
    row_t *overheads; /* rows that are the recorder's own cost, by start */
    size_t n_overheads, at_overhead;
    int64_t first_correlation;  /* of the calls in the trace */
    row_t memo_row, memo_frame; /* the last parent asked for, and the user's function around it */
    struct {
        uint32_t device;
        str_id user, deepest; /* names of the user's frame and the deepest one */
        uint32_t cause, inner;
    } memo; /* the last Python cause */
};

int split_init(struct split *s, const struct trace *t, const struct basics *b,
               const struct syncs *syncs, struct err *e) MUST_USE;
void split_done(struct split *s);

/* Adds the parts of a gap to s->causes and leaves them in s->causes.parts; they add up to the gap.
 * `device` is an index in the timeline. With `whole` the gap is not looked into: CAUSE_SHORT. Gaps
 * of a device are given in time order. */
int split_gap(struct split *s, uint32_t device, const struct idle_gap *g, bool whole,
              struct err *e) MUST_USE;

/* The step of the loop that launched what ended the gap, or UINT32_MAX. */
uint32_t split_step(const struct split *s, const struct idle_gap *g);

#endif
