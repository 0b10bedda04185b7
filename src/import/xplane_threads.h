/* xplane_threads.h: which thread of the host makes the calls that ROCm puts on a line of their own.
 *
 * The recorder of calls knows threads by other numbers than that of TraceMe, so that one thread has
 * two lines. XLA says around each call which part of the program it runs, and the call says that
 * too: where nearly all calls of a line lie inside such events of one other line, both are one. */
#ifndef STRATA_IMPORT_XPLANE_THREADS_H
#define STRATA_IMPORT_XPLANE_THREADS_H

#include "import/xplane_planes.h"

/* Lines by their place in the plane: 1 + the place of the line they belong to, 0 for themselves. */
struct xthreads {
    uint32_t *same_as;
    uint32_t n;
};

/* 0 or ERR_NOMEM. */
int xthreads_find(struct xthreads *t, const struct xplanes *x, const struct xplane *p) MUST_USE;
void xthreads_done(struct xthreads *t);

#endif
