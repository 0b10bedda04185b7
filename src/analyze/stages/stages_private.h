/* stages_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_STAGES_STAGES_PRIVATE_H
#define STRATA_ANALYZE_STAGES_STAGES_PRIVATE_H

#include "base/err.h"

struct context;
struct stages;

/* unlabelled.c: what happens between the stages: the glue code nobody has put a label on. */

/* Fills s->between; the list of stages must be complete. */
int unlabelled_run(const struct context *cx, struct stages *s, struct err *e) MUST_USE;

#endif
