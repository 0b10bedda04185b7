/* dead.h: labels that begin with a long nothing. The first call of a label in a cold process
 * loads code, picks algorithms and takes memory before its first op runs; the others do not. */
#ifndef STRATA_ANALYZE_DEAD_H
#define STRATA_ANALYZE_DEAD_H

#include "analyze/passes/steps.h"

/* Fills s->dead; the steps must be there already. */
int dead_find(const struct trace *t, struct arena *mem, struct steps *s, struct err *e) MUST_USE;

#endif
