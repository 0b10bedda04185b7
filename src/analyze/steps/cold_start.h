/* cold_start.h: labels that begin with a long nothing. The first call of a label in a cold process
 * loads code, picks algorithms and takes memory before its first op runs; the others do not. */
#ifndef STRATA_ANALYZE_STEPS_COLD_START_H
#define STRATA_ANALYZE_STEPS_COLD_START_H

#include "analyze/steps/steps.h"

/* Fills s->dead; the steps must be there already. */
int cold_start_find(const struct trace *t, struct arena *mem, struct steps *s,
                    struct err *e) MUST_USE;

#endif
