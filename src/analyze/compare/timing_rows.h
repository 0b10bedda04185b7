/* timing_rows.h: the ranges of a recording added up by stage, as the Python package does it while a
 * program runs: for programs that could not, because they were killed or are not Python.
 *
 * A range inside a range of the same name is the same stage again: it is not counted, its time is
 * in the outer one. Ranges left by an exception and ranges never ended are counted apart. */
#ifndef STRATA_ANALYZE_COMPARE_TIMING_ROWS_H
#define STRATA_ANALYZE_COMPARE_TIMING_ROWS_H

#include "format/timing.h"
#include "trace/trace.h"

/* Fills wall, total and stages of `ret` from the ranges of trace process `process`; the rest is the
 * caller's. n_stages is 0 when there are none. */
int timing_rows_run(const struct trace *t, uint32_t process, struct arena *mem, struct timing *ret,
                    struct err *e) MUST_USE;

#endif
