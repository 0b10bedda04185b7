/* ranks_parts.h: the sentences and tables of a set of ranks, which text and markdown share. */
#ifndef STRATA_REPORT_RANKS_RANKS_PARTS_H
#define STRATA_REPORT_RANKS_RANKS_PARTS_H

#include "analyze/ranks/rank_set.h"
#include "report/screen.h"

enum { RANKS_NAMED = 8, RANKS_STRAGGLERS = 4 }; /* that a view names at most */

/* "8 of 8 ranks, 10 collectives matched" */
void ranks_who(struct buf *out, const struct rank_set *r);

/* What is missing or there twice, one sentence each: the n-th; false when there is none. */
bool ranks_doubt(struct buf *out, const struct rank_set *r, uint32_t nth);

/* Why no rank can be named; NULL when it is known which rank waits for which. */
const char *ranks_no_answer(const struct rank_set *r);

/* The result: "Rank 2 is the straggler: gemm_backward takes 1.50x as long as elsewhere". Nothing
 * where the schedule is what there is to say. */
void ranks_headline(struct buf *out, const struct rank_set *r);

/* "Fixing it: 1.17 ms -> 968 us per step (-17.1 %)"; `without_ns` is a step without late ranks, 0
 * when not replayed. */
void ranks_gain(struct buf *out, const struct rank_set *r, int64_t without_ns);

/* "rank 3 is late by 2 ms in total, to 10 collectives: ...": the n-th that is late; false when
 * there is none. */
bool ranks_late(struct buf *out, const struct rank_set *r, uint32_t nth);

/* Waiting that follows from how work is divided: bubbles of a pipeline, uneven experts. Nothing
 * where there is none. */
void ranks_bubbles(struct buf *out, const struct rank_set *r);
void ranks_experts(struct buf *out, const struct rank_set *r);

/* Whose own time the critical path is made of, most first; how far clocks are apart. Nothing where
 * there are no collectives. */
void ranks_path(struct buf *out, const struct rank_set *r);
void ranks_clocks(struct buf *out, const struct rank_set *r);

/* Times of each rank, and the collectives to which ranks come furthest apart. The caller owns the
 * tables. */
void ranks_table(struct text_table *t, const struct rank_set *r, uint32_t most);
void ranks_collectives(struct text_table *t, const struct rank_set *r);

#endif
