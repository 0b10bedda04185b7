/* rounds.h: the outermost repetition in a sequence of what a program does.
 *
 *     wxyz ibbbbbh ibbbbbh ibbbbh ibbbbbh d        items: operators, launches, calls of modules
 *          `round' `round' `round' `round'         not the five layers inside each
 *
 * Rounds need not be equal: some item is chosen differently, the first and the last do more or
 * less, something stands between two of them. What is inside a round is searched for in the same
 * way, a round at a time. */
#ifndef STRATA_ANALYZE_STRUCTURE_ROUNDS_H
#define STRATA_ANALYZE_STRUCTURE_ROUNDS_H

#include "base/arena.h"
#include "base/err.h"

struct rounds_seq {
    const uint32_t *items;
    const int64_t *weights; /* >= 0 */
    const int64_t *pauses;  /* before each item: time in which nothing of the sequence happens */
    uint32_t n;
};

struct round_run {
    uint32_t begin, end; /* items [begin, end) */
};

struct rounds {
    struct round_run *list; /* ascending, apart */
    uint32_t n;             /* 0, or at least 2 */
    uint32_t period;        /* items per round, of most rounds */
    int64_t weight;         /* of the items in rounds */
};

/* O(n log n). The result comes from `mem`, scratch space from `scratch`, which is given back. */
int rounds_find(const struct rounds_seq *s, struct arena *mem, struct arena *scratch,
                struct rounds *ret, struct err *e) MUST_USE;

/* Of `n` equal rounds in a row, that differ in nothing but time: how many make up one of something
 * larger, because the pause before every so many of them is longer than all others. `pauses` are
 * those before each round. 0 when no such number stands out. */
int rounds_by_pauses(const int64_t *pauses, uint32_t n, struct arena *scratch, uint32_t *ret,
                     struct err *e) MUST_USE;

#endif
