/* levels.h: what repeats in the program, outer to inner: calls, in them steps, in them layers.
 *
 *     generate ... generate ...                    3 rounds
 *       LlamaForCausalLM argmax  ...               24 rounds in each
 *         LlamaDecoderLayer ...                    16 rounds in each
 *
 * Each level is found inside the rounds of the one around it, so its rounds never reach across
 * one. A level whose rounds are different parts in a row (the blocks of a network) differs from one
 * that does the same thing again. */
#ifndef STRATA_ANALYZE_STRUCTURE_LEVELS_H
#define STRATA_ANALYZE_STRUCTURE_LEVELS_H

#include "analyze/structure/outline.h"
#include "base/arena.h"
#include "base/err.h"

enum { LEVELS_MOST = 8 };

struct level_round {
    int64_t begin_ns, end_ns; /* to the begin of the next one where that follows directly */
    int64_t inner_end_ns;     /* to the end of what is in it */
    uint32_t first, end;      /* items of the outline */
    uint32_t outer;           /* round of the level around it */
};

struct level {
    struct str name; /* of the call that a round is or mostly consists of; empty when it has none */
    enum origin from;
    struct level_round *rounds; /* ascending, apart; at least one */
    uint32_t n;
    uint32_t per_outer; /* rounds in one of the level around it: the median */
    uint32_t period;    /* items per round */
    int64_t median_ns;  /* of a round */
    bool layers;        /* parts in a row, not the same thing again */
};

struct levels {
    struct level list[LEVELS_MOST];
    uint32_t n;
    uint32_t steps; /* the level that is the program's loop; n when there is none */
};

/* A stretch of the program to look into. */
struct levels_within {
    int64_t begin_ns, end_ns;
};

/* The levels of the whole program. One round is a call around all that repeats. */
int levels_find(const struct outline *o, struct arena *mem, struct levels *ret,
                struct err *e) MUST_USE;

/* The levels inside rounds that are known already: ret->list[0] and on are inside them. */
int levels_find_inside(const struct outline *o, const struct levels_within *rounds, uint32_t n,
                       struct arena *mem, struct levels *ret, struct err *e) MUST_USE;

/* rounds.c: the outermost repetition in a sequence of what a program does.
 *
 *     wxyz ibbbbbh ibbbbbh ibbbbh ibbbbbh d        items: operators, launches, module calls
 *          `round' `round' `round' `round'         not the five layers inside each
 *
 * Rounds need not be equal: some item is chosen differently, the first and the last do more or
 * less, something stands between two of them. What is inside a round is searched for in the same
 * way, a round at a time. */

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
