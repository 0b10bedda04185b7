/* analysis.h: all passes over one trace, run once in order, for rules and reports to look at. */
#ifndef STRATA_ANALYZE_ANALYSIS_H
#define STRATA_ANALYZE_ANALYSIS_H

#include "analyze/gaps/bound.h"
#include "analyze/gaps/launch_delay.h"
#include "analyze/gaps/launchless.h"
#include "analyze/memory/memory.h"
#include "analyze/quality/integrity.h"
#include "analyze/rules/checklist.h"
#include "analyze/rules/finding.h"
#include "analyze/stages/stages.h"

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
    struct launchless quiet;
    struct launch_delays stretches;
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
