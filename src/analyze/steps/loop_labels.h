/* loop_labels.h: the loop, from annotations that repeat. Part of loop.c. */
#ifndef STRATA_ANALYZE_STEPS_LOOP_LABELS_H
#define STRATA_ANALYZE_STEPS_LOOP_LABELS_H

#include "analyze/steps/loop.h"

/* Leaves `ret` as it is when no annotations repeat. */
int loop_labels_find(const struct trace *t, struct arena *mem, struct loop *ret,
                     struct err *e) MUST_USE;

#endif
