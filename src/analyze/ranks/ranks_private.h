/* ranks_private.h: the parts a set of ranks is computed from, in this order. */
#ifndef STRATA_ANALYZE_RANKS_RANKS_PRIVATE_H
#define STRATA_ANALYZE_RANKS_RANKS_PRIVATE_H

#include "base/arena.h"

struct rank_set;

int rank_match(struct rank_set *s, struct arena *mem);  /* list, unmatched */
int rank_clocks(struct rank_set *s, struct arena *mem); /* clocks */
int rank_waits(struct rank_set *s, struct arena *mem);  /* waits, who came last, lateness */
int rank_blame(struct rank_set *s, struct arena *mem);  /* stragglers and their causes */

#endif
