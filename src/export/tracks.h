/* tracks.h: where a viewer that cannot draw two crossing spans on one thread must draw each.
 *
 * Perfetto (2025-05 to 2026) silently drops a span that overlaps another of its thread
 * and neither contains the other. Such a span gets a further track of its thread where it fits.
 * To a viewer a thread is a pid and a tid: lanes that share both share their tracks. */
#ifndef STRATA_EXPORT_TRACKS_H
#define STRATA_EXPORT_TRACKS_H

#include "trace/trace.h"

enum { TRACKS_MOST = 64 }; /* a thread; what fits on none of them stays on the last */

struct tracks {
    row_t *order;     /* all rows: by thread, start, longest first */
    uint8_t *of_row;  /* 0: the thread itself */
    lane_id *thread;  /* by lane: the first lane with the same pid and tid */
    uint8_t *n_extra; /* by thread: tracks besides the thread itself */
    int64_t *tid;     /* by thread: tid of its first extra track; others follow */
};

/* tracks_done is due also after a failure. */
int tracks_init(struct tracks *k, const struct trace *t, struct err *e) MUST_USE;
void tracks_done(struct tracks *k);

/* Whether a viewer sees one thread in both: the same pid and tid. */
bool tracks_same_thread(const struct lane *a, const struct lane *b);

#endif
