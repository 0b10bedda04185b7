/* automaton.c: see automaton.h. Edges are found by state and token in one map, and stand in a list
 * of each state as well, for states that are split. */
#include "analyze/sequence/automaton.h"

#include "base/mem.h"

static uint64_t automaton_key(uint32_t state, uint32_t token)
{
    return (uint64_t)state << 32 | token;
}

int automaton_init(struct automaton *a, uint32_t n)
{
    *a = (struct automaton){.states = mem_alloc((2 * (size_t)n + 2) * sizeof *a->states),
                            .edges = mem_alloc((3 * (size_t)n + 2) * sizeof *a->edges)};
    map_init(&a->by_token);
    if (!a->states || !a->edges) return ERR_NOMEM;
    automaton_clear(a);
    return 0;
}

void automaton_done(struct automaton *a)
{
    map_done(&a->by_token);
    mem_free(a->states);
    mem_free(a->edges);
}

void automaton_clear(struct automaton *a)
{
    map_done(&a->by_token);
    map_init(&a->by_token);
    a->n_edges = a->last = 0;
    a->n_states = 1;
    a->states[0] = (struct automaton_state){0, AUTOMATON_NONE, AUTOMATON_NONE};
}

uint32_t automaton_follow(const struct automaton *a, uint32_t state, uint32_t token)
{
    uint32_t edge = map_find(&a->by_token, automaton_key(state, token));
    return edge == MAP_NONE ? AUTOMATON_NONE : a->edges[edge].to;
}

static int automaton_connect(struct automaton *a, uint32_t from, uint32_t token, uint32_t to)
{
    uint32_t *edge = map_at(&a->by_token, automaton_key(from, token));
    if (!edge) return ERR_NOMEM;
    if (*edge == MAP_NONE) {
        *edge = a->n_edges++;
        a->edges[*edge] = (struct automaton_edge){token, to, a->states[from].edges};
        a->states[from].edges = *edge;
    }
    a->edges[*edge].to = to;
    return 0;
}

/* A state with the shorter stretches of `of`, up to `longest` tokens. */
static int automaton_split(struct automaton *a, uint32_t of, uint32_t longest, uint32_t *ret)
{
    uint32_t half = a->n_states++;
    a->states[half] = a->states[of];
    a->states[half].longest = longest;
    a->states[half].edges = AUTOMATON_NONE;
    for (uint32_t i = a->states[of].edges; i != AUTOMATON_NONE; i = a->edges[i].next)
        TRY(automaton_connect(a, half, a->edges[i].token, a->edges[i].to));
    a->states[of].link = half;
    *ret = half;
    return 0;
}

/* The state of the longest suffix that occurred before: reached from `p` by the token. */
static int automaton_suffix(struct automaton *a, uint32_t p, uint32_t token, uint32_t *ret)
{
    uint32_t q = automaton_follow(a, p, token), longest = a->states[p].longest + 1;
    *ret = q;
    if (a->states[q].longest == longest) return 0;
    TRY(automaton_split(a, q, longest, ret));
    for (; p != AUTOMATON_NONE && automaton_follow(a, p, token) == q; p = a->states[p].link)
        TRY(automaton_connect(a, p, token, *ret));
    return 0;
}

int automaton_append(struct automaton *a, uint32_t token)
{
    uint32_t all = a->n_states++, p = a->last;
    a->states[all] = (struct automaton_state){a->states[p].longest + 1, 0, AUTOMATON_NONE};
    for (; p != AUTOMATON_NONE && automaton_follow(a, p, token) == AUTOMATON_NONE;
         p = a->states[p].link)
        TRY(automaton_connect(a, p, token, all));
    if (p != AUTOMATON_NONE) TRY(automaton_suffix(a, p, token, &a->states[all].link));
    a->last = all;
    return 0;
}
