/* dive_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_DIVE_DIVE_PRIVATE_H
#define STRATA_DIVE_DIVE_PRIVATE_H

#include "analyze/ops/op_links.h"
#include "base/err.h"
#include "dive/profile.h"
#include "dive/targets.h"

struct verdict_in;
struct verdict;

/* advice_kernel.c: what usually helps against a limiter, in words a newcomer understands. */

/* NULL where there is no verdict, or nothing to be gained. */
const char *advice_kernel(const struct verdict_in *in, const struct verdict *v);

/* guess.c: what a trace alone tells about a kernel, where nothing can be measured: work and bytes
 * from the shapes its operator was called with, occupancy from its launch, over the time it took.
 * Bytes are the fewest possible: each input read once, the output written once. */

/* Everything that is not known is NaN. */
void guess_profile(const struct trace *t, const struct op_links *links, const struct target *target,
                   struct profile *ret);

#endif
