/* gap_split.h: takes a gap of a device apart by time, to the nanosecond.
 *
 *     device  ##prev##................................##next##
 *     thread    [sync---]  python  [op [alloc]  ] [launch]
 *     parts           sy|  python  |op |alloc|op| |launch latency|
 *
 * Until the launch of what ended the gap, each moment belongs to the deepest row of the thread
 * that launched it; where that thread was not doing anything yet, to the thread that handed over
 * to it. Times the recorder noted as its own cost are taken out first. After the launch it is the
 * way to the device: latency, a copy being staged, another stream, the nodes of a graph. */
#ifndef STRATA_ANALYZE_GAPS_GAP_SPLIT_H
#define STRATA_ANALYZE_GAPS_GAP_SPLIT_H

#include "analyze/gaps/gap_cause.h"
#include "analyze/waits/syncs.h"

struct gap_split {
    const struct context *cx;
    const struct trace *t;
    const struct syncs *syncs;
    struct gap_causes causes;
    struct source_places *where;
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

/* Needs the passes that gaps_pass needs. */
int gap_split_init(struct gap_split *s, const struct context *cx, struct err *e) MUST_USE;
void gap_split_done(struct gap_split *s);

/* Adds the parts of a gap to s->causes and leaves them in s->causes.parts; they add up to the gap.
 * `device` is an index in the timeline. With `whole` the gap is not looked into: CAUSE_SHORT. Gaps
 * of a device are given in time order. */
int gap_split_run(struct gap_split *s, uint32_t device, const struct idle_gap *g, bool whole,
                  struct err *e) MUST_USE;

/* The step of the loop that launched what ended the gap, or UINT32_MAX. */
uint32_t gap_split_step(const struct gap_split *s, const struct idle_gap *g);

#endif
