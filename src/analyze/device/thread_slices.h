/* thread_slices.h: what a thread was doing, moment by moment: its deepest row, piece by piece.
 *
 *     forward   [------------------------]
 *     op            [------]   [---]
 *     pieces    |f  |op    |f  |op |f    |none
 *
 * The pieces cover the asked time exactly, without overlap. Rows that cross instead of nesting are
 * fine: the one that started last counts. Costs the rows inside the time plus one search. */
#ifndef STRATA_ANALYZE_DEVICE_THREAD_SLICES_H
#define STRATA_ANALYZE_DEVICE_THREAD_SLICES_H

#include "trace/trace.h"

struct thread_slice {
    int64_t begin_ns, end_ns;
    row_t row; /* ROW_NONE: nothing was recorded */
};

struct thread_slices {
    const struct trace *t;
    row_t now, next, lane_end;
    int64_t at_ns, end_ns;
};

void thread_slices_init(struct thread_slices *d, const struct trace *t, lane_id thread,
                        int64_t begin_ns, int64_t end_ns);

/* False at the end. */
bool thread_slices_next(struct thread_slices *d, struct thread_slice *ret);

#endif
