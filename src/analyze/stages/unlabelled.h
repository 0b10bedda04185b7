/* unlabelled.h: what happens between the stages: the glue code nobody has put a label on. */
#ifndef STRATA_ANALYZE_STAGES_UNLABELLED_H
#define STRATA_ANALYZE_STAGES_UNLABELLED_H

#include "analyze/stages/stages.h"

/* Fills s->between; the list of stages must be complete. Memory from `mem`. */
int unlabelled_run(const struct basics *b, struct stages *s, struct arena *mem,
                   struct err *e) MUST_USE;

#endif
