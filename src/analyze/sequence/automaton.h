/* automaton.h: which stretches a sequence of tokens has, as a suffix automaton: each of its states
 * is a set of stretches that end in the same places, and following tokens from its start finds out
 * whether a stretch occurs. It grows by one token at a time, O(n) in total. */
#ifndef STRATA_ANALYZE_SEQUENCE_AUTOMATON_H
#define STRATA_ANALYZE_SEQUENCE_AUTOMATON_H

#include "base/err.h"
#include "base/map.h"

#define AUTOMATON_NONE UINT32_MAX

struct automaton_state {
    uint32_t longest; /* tokens of its longest stretch */
    uint32_t link;    /* state of the longest suffix that is in another one */
    uint32_t edges;   /* its first edge, or AUTOMATON_NONE */
};

struct automaton_edge {
    uint32_t token, to, next;
};

struct automaton {
    struct automaton_state *states; /* 2 per token at most, and one */
    struct automaton_edge *edges;   /* 3 per token at most */
    uint32_t n_states, n_edges, last;
    struct map by_token; /* state and token -> edge */
};

/* Room for `n` tokens; ERR_NOMEM otherwise. automaton_done in any case. */
int automaton_init(struct automaton *a, uint32_t n) MUST_USE;
void automaton_done(struct automaton *a);

/* Forgets all tokens. */
void automaton_clear(struct automaton *a);

/* ERR_NOMEM is the only failure. */
int automaton_append(struct automaton *a, uint32_t token) MUST_USE;

/* What comes after another token, from state 0 on; AUTOMATON_NONE where no such stretch occurs. */
uint32_t automaton_follow(const struct automaton *a, uint32_t state, uint32_t token);

#endif
