/* rank_replay.h: how long a step would take if no rank came late: the trace of one rank, replayed
 * with collectives that wait only for the ranks that come in time. */
#ifndef STRATA_ANALYZE_RANKS_RANK_REPLAY_H
#define STRATA_ANALYZE_RANKS_RANK_REPLAY_H

#include "analyze/ranks/rank_set.h"

/* The rank to replay: of those that are not stragglers, the one with most waiting; false when all
 * are. */
bool rank_replay_pick(const struct rank_set *s, uint32_t *ret);

/* `cx` is the trace of that rank. */
int rank_replay_run(struct context *cx, const struct rank_set *s, uint32_t rank, int64_t *ret_step,
                    struct err *e) MUST_USE;

#endif
