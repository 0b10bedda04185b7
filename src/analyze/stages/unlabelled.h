/* unlabelled.h: what happens between the stages: the glue code nobody has put a label on. */
#ifndef STRATA_ANALYZE_STAGES_UNLABELLED_H
#define STRATA_ANALYZE_STAGES_UNLABELLED_H

#include "analyze/stages/stages.h"

/* Fills s->between; the list of stages must be complete. */
int unlabelled_run(const struct context *cx, struct stages *s, struct err *e) MUST_USE;

#endif
