/* steps_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_STEPS_STEPS_PRIVATE_H
#define STRATA_ANALYZE_STEPS_STEPS_PRIVATE_H

#include "base/err.h"

struct trace;
struct arena;
struct steps;
struct loop;

/* cold_start.c: labels that begin with a long nothing. The first call of a label in a cold process
 * loads code, picks algorithms and takes memory before its first op runs; the others do not. */

/* Fills s->dead; the steps must be there already. */
int cold_start_find(const struct trace *t, struct arena *mem, struct steps *s,
                    struct err *e) MUST_USE;

/* loop_labels.c: the loop, from annotations that repeat. */

/* Leaves `ret` as it is when no annotations repeat. */
int loop_labels_find(const struct trace *t, struct arena *mem, struct loop *ret,
                     struct err *e) MUST_USE;

#endif
