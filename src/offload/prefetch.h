/* prefetch.h: the replay model of a run that copies weights ahead, on a stream of their own.
 *
 *     CPU          [wait compute i-1][wait copy i][issue copy i+d] launch compute i ...
 *     copy stream   ====copy i====   ====copy i+1====
 *     compute       ###i-1###            ###compute i###
 *
 * A group (a module or a block) is copied while the d groups before it compute. As the common
 * implementation does it, the CPU waits for the previous group's kernels before it gives their
 * memory back, and for the copy of a group before it launches its kernels. A better one lets the
 * streams wait for each other by events, and the CPU run ahead. */
#ifndef STRATA_OFFLOAD_PREFETCH_H
#define STRATA_OFFLOAD_PREFETCH_H

#include "offload/change.h"

/* Makes c->m a copy of the trial's model with copies moved and waits added, and adds to c->scaled.
 * Memory from `mem`. */
int prefetch_move(struct change *c, struct arena *mem, struct err *e) MUST_USE;

#endif
