/* cut.h: a part of a trace as a trace of its own, as if the recorder had been switched on and off
 * at its borders. */
#ifndef STRATA_TRACE_CUT_H
#define STRATA_TRACE_CUT_H

#include "trace/trace.h"

/* Replaces *t by what lies in [begin_ns, end_ns) of it. Spans of threads that reach beyond are cut
 * off at the borders; device work counts where it starts; what was allocated before is allocated
 * at the begin, so that memory adds up. Flows are left out. *t stays as it is on failure. */
int trace_cut(struct trace **t, int64_t begin_ns, int64_t end_ns, struct err *e) MUST_USE;

#endif
