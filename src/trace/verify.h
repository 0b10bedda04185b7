/* verify.h: does a trace keep the guarantees of trace.h? For traces that were mapped rather than
 * built: after this, no reader can be led out of bounds or into a loop by what a file says. */
#ifndef STRATA_TRACE_VERIFY_H
#define STRATA_TRACE_VERIFY_H

#include "trace/trace.h"

/* ERR_FORMAT with the first row that breaks a guarantee. Reads every column once. */
int trace_verify(const struct trace *t, int n_threads, struct err *e) MUST_USE;

/* The part of it that costs nothing: the small tables, and what is said of the trace as a whole. */
int trace_verify_lanes(const struct trace *t, struct err *e) MUST_USE;

#endif
