/* rank_link.c: transfers that take longer than those of the same kind and size in other groups: a
 * link of a rank is slow when all groups it is in are. In a single group of all ranks every rank
 * sees the same transfer, and no rank can be named. */
#include <stdlib.h>

#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_constants.h"
#include "analyze/ranks/ranks_private.h"
#include "base/stats.h"

struct transfer {
    uint32_t index;    /* of the collective */
    const char *group; /* the same pointer for the same group */
    const struct rank_collective *c;
};

static int rank_link_by_kind(const void *a, const void *b)
{
    const struct rank_collective *x = ((const struct transfer *)a)->c;
    const struct rank_collective *y = ((const struct transfer *)b)->c;
    if (x->what != y->what) return x->what < y->what ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->n < y->n ? -1 : x->n > y->n;
}

/* Ranks run the same program: the n-th collectives of ranks are the same line of it. */
static int rank_link_by_place(const void *a, const void *b)
{
    uint32_t x = ((const struct transfer *)a)->c->members[0].event;
    uint32_t y = ((const struct transfer *)b)->c->members[0].event;
    int c = rank_link_by_kind(a, b);
    return c ? c : (x > y) - (x < y);
}

static bool one_group(const struct transfer *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(x[i].group, x[0].group) != 0) return false;
    return true;
}

static void rank_link_set_usual(struct rank_set *s, const struct transfer *x, uint32_t n,
                                int64_t *sorted)
{
    for (uint32_t i = 0; i < n; i++) sorted[i] = x[i].c->transfer_ns;
    stats_sort(sorted, n);
    int64_t usual = one_group(x, n) ? -1 : stats_percentile(sorted, n, rank_link_usual_pct);
    for (uint32_t i = 0; i < n; i++) s->list[x[i].index].usual_ns = usual;
}

/* Transfers of one size differ from place to place (what they carry is not all that counts): where
 * all groups take longer at a place, that is usual there. */
static void raise_usual(struct rank_set *s, const struct transfer *x, uint32_t n, int64_t *sorted)
{
    for (uint32_t i = 0; i < n; i++) sorted[i] = x[i].c->transfer_ns;
    stats_sort(sorted, n);
    int64_t usual = stats_percentile(sorted, n, rank_link_usual_pct);
    if (n < rank_link_groups || one_group(x, n)) return;
    for (uint32_t i = 0; i < n; i++)
        if (s->list[x[i].index].usual_ns < usual) s->list[x[i].index].usual_ns = usual;
}

typedef void class_fn(struct rank_set *s, const struct transfer *x, uint32_t n, int64_t *sorted);

/* Calls `fn` for each run of transfers that `order` holds for equal. */
static void each_class(struct rank_set *s, struct transfer *x, int64_t *sorted,
                       int (*order)(const void *, const void *), class_fn *fn)
{
    if (s->n_list) qsort(x, s->n_list, sizeof *x, order);
    for (uint32_t at = 0, end; at < s->n_list; at = end) {
        for (end = at + 1; end < s->n_list && order(&x[at], &x[end]) == 0;) end++;
        fn(s, x + at, end - at, sorted);
    }
}

int rank_links(struct rank_set *s, struct arena *mem)
{
    struct arena_mark mark = arena_mark(mem);
    struct transfer *x = arena_zalloc(mem, (size_t)s->n_list + 1, sizeof *x);
    int64_t *sorted = arena_zalloc(mem, (size_t)s->n_list + 1, sizeof *sorted);
    if (!x || !sorted) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        const struct rank_summary *r = &s->ranks[c->members[0].rank];
        x[i] = (struct transfer){i, r->groups[r->events[c->members[0].event].group], c};
    }
    each_class(s, x, sorted, rank_link_by_kind, rank_link_set_usual);
    each_class(s, x, sorted, rank_link_by_place, raise_usual);
    arena_reset_to(mem, mark);
    return 0;
}

uint32_t rank_link_worst(const struct rank_set *s, int64_t *excess)
{
    uint32_t worst = 0;
    for (uint32_t r = 0; r < s->n; r++) excess[r] = 0;
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        for (uint32_t k = 0; k < c->n && c->usual_ns >= 0; k++)
            excess[c->members[k].rank] += c->transfer_ns - c->usual_ns;
    }
    for (uint32_t r = 1; r < s->n; r++)
        if (excess[r] > excess[worst]) worst = r;
    return worst;
}

static bool has_member(const struct rank_collective *c, uint32_t rank)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->members[i].rank == rank) return true;
    return false;
}

struct rank_link rank_link_of(const struct rank_set *s, uint32_t rank, uint32_t except)
{
    struct rank_link ret = {0, 0};
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        if (c->usual_ns < 0 || !has_member(c, rank)) continue;
        if (except != UINT32_MAX && has_member(c, except)) continue;
        ret.own_ns += c->transfer_ns;
        ret.usual_ns += c->usual_ns;
    }
    return ret;
}
