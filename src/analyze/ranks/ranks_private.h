/* ranks_private.h: the parts a set of ranks is computed from, in this order. */
#ifndef STRATA_ANALYZE_RANKS_RANKS_PRIVATE_H
#define STRATA_ANALYZE_RANKS_RANKS_PRIVATE_H

#include "analyze/context.h"

struct rank_set;
struct rank_place;
struct rank_summary;

int rank_match(struct rank_set *s, struct arena *mem);  /* list, unmatched */
int rank_clocks(struct rank_set *s, struct arena *mem); /* clocks */
int rank_waits(struct rank_set *s, struct arena *mem);  /* waits, who came last, lateness */
int rank_blame(struct rank_set *s, struct arena *mem);  /* stragglers and their causes */

/* The table of functions. */
int rank_functions(const struct context *cx, struct arena *mem, struct rank_summary *s) MUST_USE;

/* Events, groups and times of a rank without a device. */
int rank_host_run(struct context *cx, struct arena *mem, struct rank_summary *s) MUST_USE;

/* A copy of a text, shortened to `width` columns; "" when out of memory. */
const char *rank_keep(struct arena *mem, struct str s, int width);

/* File, line, function and stage of a row on a thread. */
void rank_find_place(const struct context *cx, row_t r, struct arena *mem, struct rank_place *ret);

#endif
