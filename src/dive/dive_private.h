/* dive_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_DIVE_DIVE_PRIVATE_H
#define STRATA_DIVE_DIVE_PRIVATE_H

#include "base/err.h"

struct verdict_in;
struct verdict;

/* advice_kernel.c: what usually helps against a limiter, in words a newcomer understands. */

/* NULL where there is no verdict, or nothing to be gained. */
const char *advice_kernel(const struct verdict_in *in, const struct verdict *v);

#endif
