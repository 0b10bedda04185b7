/* freeze.h: the steps builder_freeze takes, in this order. Private to the trace layer.
 *
 * Each returns 0 or ERR_NOMEM and leaves the trace fit for trace_free. */
#ifndef STRATA_TRACE_FREEZE_H
#define STRATA_TRACE_FREEZE_H

#include "trace/rows.h"

/* Turns each B with its E into one X of the same lane. The E rows get phase 0: dropped later. */
int freeze_pairs(struct rows *r, struct trace *t) MUST_USE;

/* Rows whose times or sizes are beyond all bounds (bounds.h) lose them. */
void freeze_bounds(struct rows *r, struct trace *t);

/* Numbers the lanes: by kind, process, device, stream, thread. */
int freeze_lanes(struct rows *r, struct trace *t) MUST_USE;

/* Moves the rows into the trace, by (lane, start, longest first, place in the file). */
int freeze_order(struct rows *r, struct trace *t, int n_threads) MUST_USE;

/* The same, once the order is known: order[i] is the row that becomes row i. */
int freeze_gather(struct rows *r, struct trace *t, const row_t *order, int n_threads) MUST_USE;

/* Begin, end and window; marks device rows without a time. */
void freeze_times(struct trace *t);

/* Parent and depth of every row on a thread; marks rows that cross. */
int freeze_nest(struct trace *t) MUST_USE;

/* Device rows to the calls that launched them. */
int freeze_links(struct trace *t) MUST_USE;

/* Marks the profiler's own last wait. */
int freeze_profiler(struct trace *t) MUST_USE;

#endif
