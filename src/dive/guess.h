/* guess.h: what a trace alone tells about a kernel, where nothing can be measured: work and bytes
 * from the shapes its operator was called with, occupancy from its launch, over the time it took.
 * Bytes are the fewest possible: each input read once, the output written once. */
#ifndef STRATA_DIVE_GUESS_H
#define STRATA_DIVE_GUESS_H

#include "analyze/ops/op_links.h"
#include "dive/profile.h"
#include "dive/targets.h"

/* Everything that is not known is NaN. */
void guess_profile(const struct trace *t, const struct op_links *links, const struct target *target,
                   struct profile *ret);

#endif
