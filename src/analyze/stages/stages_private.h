/* stages_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_STAGES_STAGES_PRIVATE_H
#define STRATA_ANALYZE_STAGES_STAGES_PRIVATE_H

#include "base/err.h"

struct context;
struct stages;
struct stage_parts;

/* stage_parts.c: the parts of the program that nobody labelled, from the structure found in it:
 * calls of modules and functions, steps, layers, forward and backward, compiled regions. None where
 * the user's own labels hold most of the work. */
int stage_parts_find(const struct context *cx, struct stage_parts *ret, struct err *e) MUST_USE;

/* unlabelled.c: what happens between the stages: the glue code nobody has put a label on. */

/* Fills s->between; the list of stages must be complete. */
int unlabelled_run(const struct context *cx, struct stages *s, struct err *e) MUST_USE;

#endif
