/* basics.h: the passes that every other one builds on, run in order, once a trace. */
#ifndef STRATA_ANALYZE_BASICS_H
#define STRATA_ANALYZE_BASICS_H

#include "analyze/steps/steps.h"

struct basics {
    const struct trace *t;
    struct calls calls;
    struct timeline timeline;
    struct steps steps;
};

/* Memory from `mem`, which must outlive `ret`. */
int basics_run(const struct trace *t, struct arena *mem, struct basics *ret,
               struct err *e) MUST_USE;

#endif
