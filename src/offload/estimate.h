/* estimate.h: how long a scheme takes, from sizes and rates alone: for runs without a trace. */
#ifndef STRATA_OFFLOAD_ESTIMATE_H
#define STRATA_OFFLOAD_ESTIMATE_H

#include "offload/scheme.h"

/* Scratch from `mem`, given back; ERR_NOMEM is the only failure. */
int estimate_run(const struct facts *f, const struct scheme *sc, struct arena *mem,
                 struct scheme_times *ret) MUST_USE;

/* Time a step would gain if module i stayed, by module, under the scheme: what its copy costs
 * beyond the compute it hides behind. */
void estimate_worth(const struct facts *f, const struct scheme *sc, double *ret);

#endif
