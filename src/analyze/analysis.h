/* analysis.h: all passes over one trace, run once in order, for rules and reports to look at. */
#ifndef STRATA_ANALYZE_ANALYSIS_H
#define STRATA_ANALYZE_ANALYSIS_H

#include "analyze/bound.h"
#include "analyze/checklist.h"
#include "analyze/finding.h"
#include "analyze/passes/integrity.h"
#include "analyze/passes/memory.h"
#include "analyze/passes/stages.h"
#include "analyze/quiet.h"
#include "analyze/stretch.h"

struct analysis {
    const struct trace *t;
    struct arena *mem;
    struct thresholds th;
    struct basics basics; /* calls, timeline, steps */
    struct integrity integrity;
    struct stages stages;
    struct memory memory;
    struct syncs syncs;
    struct gaps gaps;
    struct quiet quiet;
    struct stretches stretches;
    struct sim_model model;
    struct undistort undistort;
    struct bound_parts parts;
    enum bound bound;
    struct findings findings; /* ranked */
    bool abstains;            /* the records do not support a diagnosis: no findings, no bound */
    struct checklist checklist;
    int64_t wall_ns; /* of the trace */
    double busy_pct; /* of the busiest device, of the wall clock */
};

struct analysis_options {
    const struct thresholds *thresholds; /* NULL: defaults */
    int64_t wall_ns;                     /* measured without a profiler; 0 when not known */
};

/* Runs everything. `mem` must outlive `a`; analysis_done frees the rest, also after a failure. */
int analysis_run(struct analysis *a, const struct trace *t, const struct analysis_options *o,
                 struct arena *mem, struct err *e) MUST_USE;
void analysis_done(struct analysis *a);

#endif
