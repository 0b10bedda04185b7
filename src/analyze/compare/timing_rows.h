/* timing_rows.h: the ranges of a recording added up by stage, as the Python package does it while a
 * program runs: for programs that could not, because they were killed or are not Python.
 *
 * A range inside a range of the same name is the same stage again: it is not counted, its time is
 * in the outer one. Ranges left by an exception and ranges never ended are counted apart. Further
 * turns of a generator belong to the call before them. */
#ifndef STRATA_ANALYZE_COMPARE_TIMING_ROWS_H
#define STRATA_ANALYZE_COMPARE_TIMING_ROWS_H

#include "format/timing.h"
#include "trace/trace.h"

/* Which ranges are added up. */
struct timing_rows_of {
    uint32_t process;
    int64_t since_ns; /* those that end later; INT64_MIN for all */
    bool named;       /* only those that the program named, not derived ones */
};

/* Fills wall, total and stages of `ret` from the ranges of a process; the rest is the caller's.
 * n_stages is 0 when there are none. The wall clock starts at `since_ns`, or else with the first.
 */
int timing_rows_run(const struct trace *t, const struct timing_rows_of *of, struct arena *mem,
                    struct timing *ret, struct err *e) MUST_USE;

#endif
