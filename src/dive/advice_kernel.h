/* advice_kernel.h: what usually helps against a limiter, in words a newcomer understands. */
#ifndef STRATA_DIVE_ADVICE_KERNEL_H
#define STRATA_DIVE_ADVICE_KERNEL_H

#include "dive/verdict.h"

/* NULL where there is no verdict, or nothing to be gained. */
const char *advice_kernel(const struct verdict_in *in, const struct verdict *v);

#endif
