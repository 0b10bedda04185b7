/* loop_launches.h: the loop, from the period of what is launched. Part of loop.c. */
#ifndef STRATA_ANALYZE_STEPS_LOOP_LAUNCHES_H
#define STRATA_ANALYZE_STEPS_LOOP_LAUNCHES_H

#include "analyze/steps/loop.h"

/* Leaves `ret` as it is when nothing repeats convincingly. */
int loop_launches_find(const struct trace *t, const struct calls *calls, struct arena *mem,
                       struct loop *ret, struct err *e) MUST_USE;

#endif
