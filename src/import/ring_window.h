/* ring_window.h: which part of a long recording is read, found from the summaries of its blocks.
 *
 *     records   ..:::::||||||||||||||||||||||||||||||||||||:..
 *     work             ######################################
 *                                 <-- part -->
 *
 * The part lies around the moment at which half of the devices' work is done: a program spends most
 * of its device time in what it is for, so that moment is in it, past loading and warming up. */
#ifndef STRATA_IMPORT_RING_WINDOW_H
#define STRATA_IMPORT_RING_WINDOW_H

#include "import/importer.h"
#include "import/ring_set.h"

struct ring_extent {
    int64_t begin_ns, end_ns; /* of the whole recording, in trace time */
};

/* Sets the window of every process, after ring_set_blocks and with the offsets known. Summaries of
 * blocks that are needed are compared with them; where one is wrong its ring is summed up again. */
int ring_window_choose(struct ring_set *s, const struct import_options *o, struct ring_extent *ret,
                       struct err *e) MUST_USE;

/* A recording as pieces of about `most` records one after the other, which together are all of it:
 * *ret has the end of each, in trace time; the first begins at `whole`. */
struct ring_pieces {
    struct ring_extent whole;
    struct import_span *list;
    uint32_t n;
};
int ring_window_pieces(struct ring_set *s, uint64_t most, struct arena *mem,
                       struct ring_pieces *ret, struct err *e) MUST_USE;

#endif
