/* rank_path.c: the critical path through all ranks: the own time of whoever came last, then the
 * transfer, collective after collective. */
#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_private.h"

int rank_path(struct rank_set *s, struct arena *mem)
{
    int64_t at = 0;
    s->path = arena_zalloc(mem, (size_t)s->n_list + 1, sizeof *s->path);
    s->path_own_ns = arena_zalloc(mem, (size_t)s->n + 1, sizeof *s->path_own_ns);
    if (!s->path || !s->path_own_ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        int64_t begin = c->end_ns - c->transfer_ns;
        if (c->end_ns <= at) continue; /* beside the one before */
        if (begin < at) begin = at;
        struct rank_hop *hop = &s->path[s->n_path++];
        *hop = (struct rank_hop){i, at, begin - at, c->end_ns - begin};
        s->path_own_ns[c->members[c->last].rank] += hop->own_ns;
        s->path_transfer_ns += hop->transfer_ns;
        at = c->end_ns;
    }
    return 0;
}
