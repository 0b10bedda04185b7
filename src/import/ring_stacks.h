/* ring_stacks.h: which of a run's recordings hold Python stacks, and their rows. */
#ifndef STRATA_IMPORT_RING_STACKS_H
#define STRATA_IMPORT_RING_STACKS_H

#include "import/ring_set.h"

/* Before rings are read: tells processes where stacks go, if there are any. */
void ring_stacks_begin(struct ring_set *s);

/* After all rings were read: adds their rows, and notes in the trace what they are made of. */
int ring_stacks_add(struct builder *b, struct ring_set *s, struct err *e) MUST_USE;

#endif
