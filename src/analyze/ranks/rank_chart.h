/* rank_chart.h: a few steps of some ranks on the common clock, to be drawn: the part around the
 * collective that others wait longest for. The traces of the ranks that are drawn are opened again,
 * one at a time; nothing in a row refers to them. */
#ifndef STRATA_ANALYZE_RANKS_RANK_CHART_H
#define STRATA_ANALYZE_RANKS_RANK_CHART_H

#include "analyze/ranks/rank_set.h"

enum { RANK_CHART_ROWS = 64, RANK_CHART_STEPS = 3, RANK_CHART_COLLECTIVES = 400 };

struct rank_row {
    uint32_t rank;        /* index in the set */
    struct span *compute; /* by the common clock, since the begin of the set; short gaps are
                             closed */
    uint32_t n_compute;
};

struct rank_chart {
    uint32_t focus;             /* index of the collective it is about */
    struct span window;         /* by the common clock, since the begin of the set */
    uint32_t first_step, steps; /* that it shows; 0 where there is no loop */
    uint32_t of_steps;
    int64_t step_begin_ns[RANK_CHART_STEPS];
    struct rank_row rows[RANK_CHART_ROWS]; /* by rank */
    uint32_t n_rows;
};

/* What it is about, and which ranks it shows: those that come last, then the first of the others.
 * False when the set has no collective. */
bool rank_chart_pick(const struct rank_set *s, struct rank_chart *ret);

/* The rank whose steps make the window: it came last to `focus`. */
uint32_t rank_chart_leader(const struct rank_set *s, const struct rank_chart *c);

/* Sets the window and the steps; `cx` is the trace of that rank. */
int rank_chart_window(struct context *cx, const struct rank_set *s, struct rank_chart *c,
                      struct err *e) MUST_USE;

/* Fills a row from the trace of its rank; memory from `mem`. */
int rank_chart_row(struct context *cx, const struct rank_set *s, const struct rank_chart *c,
                   struct rank_row *row, struct arena *mem) MUST_USE;

/* Whether the collective ends in the window. */
bool rank_chart_shows(const struct rank_chart *c, const struct rank_collective *x);

/* rank_replay.c: how long a step would take if no rank came late: the trace of one rank, replayed
 * with collectives that wait only for the ranks that come in time. */

/* The rank to replay: of those that are not stragglers, the one with most waiting; false when all
 * are. */
bool rank_replay_pick(const struct rank_set *s, uint32_t *ret);

/* `cx` is the trace of that rank. */
int rank_replay_run(struct context *cx, const struct rank_set *s, uint32_t rank, int64_t *ret_step,
                    struct err *e) MUST_USE;

#endif
