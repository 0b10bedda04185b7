/* rank_path.c: the critical path through all ranks, from its end: the transfer of a collective, the
 * own time of the rank that came last to it, the collective that rank was in before, and so on; up
 * to the start-up, where a recording has that too. */
#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_private.h"

#define NONE UINT32_MAX

/* Which collective each event of a rank belongs to. */
struct walk {
    struct rank_set *s;
    uint32_t **of; /* by index in the set, then by event; NONE when it was not matched */
};

static int find_collectives(struct walk *w, struct arena *mem)
{
    struct rank_set *s = w->s;
    w->of = arena_zalloc(mem, (size_t)s->n + 1, sizeof *w->of);
    if (!w->of) return ERR_NOMEM;
    for (uint32_t r = 0; r < s->n; r++) {
        uint32_t n = s->ranks[r].n_events;
        w->of[r] = arena_alloc(mem, ((size_t)n + 1) * sizeof **w->of);
        if (!w->of[r]) return ERR_NOMEM;
        for (uint32_t i = 0; i < n; i++) w->of[r][i] = NONE;
    }
    for (uint32_t i = 0; i < s->n_list; i++)
        for (uint32_t k = 0; k < s->list[i].n; k++)
            w->of[s->list[i].members[k].rank][s->list[i].members[k].event] = i;
    return 0;
}

/* The collective that the last rank to `c` was in before it came: NONE when there is none. Ends are
 * in order, so it stands before `c` in the list. */
static uint32_t rank_path_before(const struct walk *w, uint32_t c)
{
    const struct rank_collective *x = &w->s->list[c];
    const struct rank_member *m = &x->members[x->last];
    const struct rank_event *events = w->s->ranks[m->rank].events;
    for (uint32_t i = m->event; i-- > 0;) {
        uint32_t of = w->of[m->rank][i];
        if (events[i].end_ns <= events[m->event].begin_ns && of != NONE && of < c) return of;
    }
    return NONE;
}

/* When the loop of the rank that came last begins, by the common clock; 0 where it comes later. */
static int64_t rank_path_loop(const struct rank_set *s, const struct rank_collective *c)
{
    uint32_t rank = c->members[c->last].rank;
    int64_t from = s->ranks[rank].from_ns;
    if (from == INT64_MIN) return 0;
    from = rank_set_time(s, rank, from);
    return from > c->end_ns - c->transfer_ns ? 0 : from;
}

static void add_hop(struct rank_set *s, uint32_t c, uint32_t prior)
{
    const struct rank_collective *x = &s->list[c];
    int64_t start = prior == NONE ? 0 : s->list[prior].end_ns, loop = rank_path_loop(s, x);
    if (start < loop) start = loop;
    int64_t begin = x->end_ns - x->transfer_ns;
    if (begin < start) begin = start;
    struct rank_hop *hop = &s->path[s->n_path++];
    *hop = (struct rank_hop){c, start, begin - start, x->end_ns - begin};
    s->path_own_ns[x->members[x->last].rank] += hop->own_ns;
    s->path_transfer_ns += hop->transfer_ns;
    s->path_ns += hop->own_ns + hop->transfer_ns;
}

static void turn_round(struct rank_set *s)
{
    for (uint32_t i = 0; i < s->n_path / 2; i++) {
        struct rank_hop x = s->path[i];
        s->path[i] = s->path[s->n_path - 1 - i];
        s->path[s->n_path - 1 - i] = x;
    }
}

int rank_path(struct rank_set *s, struct arena *mem)
{
    struct walk w = {.s = s};
    s->path = arena_zalloc(mem, (size_t)s->n_list + 1, sizeof *s->path);
    s->path_own_ns = arena_zalloc(mem, (size_t)s->n + 1, sizeof *s->path_own_ns);
    if (!s->path || !s->path_own_ns || find_collectives(&w, mem) < 0) return ERR_NOMEM;
    for (uint32_t c = s->n_list ? s->n_list - 1 : NONE, prior; c != NONE; c = prior) {
        prior = rank_path_before(&w, c);
        add_hop(s, c, prior);
        if (prior != NONE && s->list[prior].early && !s->list[c].early) break;
    }
    turn_round(s);
    return 0;
}
