/* cut.h: a part of a trace as a trace of its own, as if the recorder had been switched on and off
 * at its borders. */
#ifndef STRATA_TRACE_CUT_H
#define STRATA_TRACE_CUT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/span_set.h"
#include "trace/trace.h"

/* Replaces *t by what lies in [begin_ns, end_ns) of it. Spans of threads that reach beyond are cut
 * off at the borders; device work counts where it starts; what was allocated before is allocated
 * at the begin, so that memory adds up. Flows are left out. *t stays as it is on failure. */
int trace_cut(struct trace **t, int64_t begin_ns, int64_t end_ns, struct err *e) MUST_USE;

/* The same without the time in `out`, during which no device works: what lies before it moves up to
 * what lies after it, whose times stay as they are. Spans of threads get shorter by it; those that
 * lie in it are gone, but launches of work that ran. */
int trace_cut_without(struct trace **t, struct span window, const struct span_set *out,
                      struct err *e) MUST_USE;

/* The same for time in which devices worked, but nothing of it was recorded: their work goes with
 * its launch, by as much, and what was launched in that time is gone. */
int trace_splice(struct trace **t, const struct span_set *out, struct err *e) MUST_USE;

/* What threads did during `in`, as a trace of its own with the same times: *t stays unchanged. The
 * copy has neither device work nor arguments that are read on demand. */
int trace_copy_threads(const struct trace *t, const struct span_set *in, struct trace **ret,
                       struct err *e) MUST_USE;

/* The same with the device work that they launched during `in`. */
int trace_copy_launched(const struct trace *t, const struct span_set *in, struct trace **ret,
                        struct err *e) MUST_USE;

/* As trace_cut_without, and without that work and what else threads did then: as if `out` had never
 * been. */
int trace_cut_launched(struct trace **t, const struct span_set *out, struct err *e) MUST_USE;

/* Whether the row is the mark at the end of a unit in depth: it stays where that was taken out. */
bool trace_cut_is_deep_end(const struct trace *t, row_t r);

/* cut_deep.c: units in depth, from the mark where each begins to the one where it ends and until
 * the device is done with them, become a trace of their own, (*t)->deep. Where no device did
 * anything else meanwhile, which is how they are recorded, *t is then without them. */
int trace_cut_deep(struct trace **t, struct err *e) MUST_USE;

/* recorded_parts.c: the parts of a program that it recorded itself, with strata.timeline: each has
 * a mark where it begins and where it ends, and between two of them nothing is recorded. The n-th
 * parts of several processes are one. */

/* Names of the marks, as python/strata/_timeline/timeline.py writes them. */
#define RECORDED_PART_BEGINS "strata.timeline begins"
#define RECORDED_PART_ENDS   "strata.timeline ends"

struct recorded_part {
    int64_t begin_ns, end_ns; /* the end of the trace where it was cut off */
};

struct recorded_parts {
    struct recorded_part *list;
    uint32_t n;
};

/* Memory from `mem`. */
int recorded_parts_find(const struct trace *t, struct arena *mem, struct recorded_parts *ret,
                        struct err *e) MUST_USE;

#endif
