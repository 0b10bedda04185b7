/* recorded_parts.h: the parts of a program that it recorded itself, with strata.timeline: each has
 * a mark where it begins and where it ends, and between two of them nothing is recorded. The n-th
 * parts of several processes are one. */
#ifndef STRATA_TRACE_RECORDED_PARTS_H
#define STRATA_TRACE_RECORDED_PARTS_H

#include "base/arena.h"
#include "base/err.h"
#include "trace/trace.h"

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
