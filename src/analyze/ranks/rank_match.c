/* rank_match.c: which collectives of different ranks are one: the same group and number, and of one
 * kind, which NCCL counts by. Where no numbers were recorded, order in the group counts, shifted
 * where a recording began later. */
#include <stdlib.h>

#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_private.h"
#include "base/mem.h"

/* How many collectives a rank's recording may begin before or after that of another. */
#define MOST_SHIFT 16

/* One collective of one rank. */
struct entry {
    int32_t number; /* in the group */
    str_id group;
    uint32_t nth; /* of several with the same number */
    uint32_t rank, event;
    uint32_t what; /* enum collective where it has a number, else 0 */
};

struct matching {
    struct rank_set *s;
    struct arena *mem;
    struct intern groups;
    struct entry *list; /* by rank, then begin, at first */
    uint32_t n;
};

static const struct rank_event *rank_match_event_of(const struct matching *m, const struct entry *x)
{
    return &m->s->ranks[x->rank].events[x->event];
}

static int rank_match_collect(struct matching *m)
{
    size_t n = 0;
    for (uint32_t r = 0; r < m->s->n; r++) n += m->s->ranks[r].n_events;
    m->list = n < UINT32_MAX ? mem_zalloc(n + 1, sizeof *m->list) : NULL;
    if (!m->list) return ERR_NOMEM;
    for (uint32_t r = 0; r < m->s->n; r++)
        for (uint32_t i = 0; i < m->s->ranks[r].n_events; i++) {
            const struct rank_event *x = &m->s->ranks[r].events[i];
            str_id group = intern_add(&m->groups, str_c(m->s->ranks[r].groups[x->group]));
            if (group == STR_NONE) return ERR_NOMEM;
            m->list[m->n++] = (struct entry){x->seq, group, 0, r, i, x->seq >= 0 ? x->what : 0};
        }
    return 0;
}

static int by_group(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int rank_match_by_number(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->what != y->what) return x->what < y->what ? -1 : 1;
    if (x->nth != y->nth) return x->nth < y->nth ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The entries of one rank in one group: list[at .. at + n). */
struct run {
    uint32_t at, n;
};

/* All members hand in as much in an all-reduce; elsewhere sizes may differ from rank to rank. */
static bool rank_match_alike(const struct rank_event *a, const struct rank_event *b)
{
    if (a->what != b->what) return false;
    return (enum collective)a->what != COLLECTIVE_ALL_REDUCE || a->bytes == b->bytes;
}

static uint32_t rank_match_agree(const struct matching *m, struct run a, struct run b, int shift)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < b.n; i++) {
        int64_t k = (int64_t)i + shift;
        if (k < 0 || k >= a.n) continue;
        same += rank_match_alike(rank_match_event_of(m, &m->list[a.at + k]),
                                 rank_match_event_of(m, &m->list[b.at + i]));
    }
    return same;
}

/* By how many collectives run `b` begins later than `a`: where most of them are alike. */
static int find_shift(const struct matching *m, struct run a, struct run b)
{
    int best = 0;
    uint32_t most = rank_match_agree(m, a, b, 0);
    for (int k = 1; k <= MOST_SHIFT && most < b.n; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            uint32_t same = rank_match_agree(m, a, b, k * sign);
            if (same <= most) continue;
            most = same;
            best = k * sign;
        }
    return best;
}

static void number_run(struct matching *m, struct run first, struct run r)
{
    struct entry *x = m->list + r.at;
    bool numbered = true;
    for (uint32_t i = 0; i < r.n; i++) numbered = numbered && x[i].number >= 0;
    int shift = numbered ? 0 : find_shift(m, first, r);
    for (uint32_t i = 0; i < r.n && !numbered; i++) {
        x[i].number = (int32_t)i + shift;
        x[i].what = 0;
    }
    for (uint32_t i = 1; i < r.n; i++)
        if (x[i].number == x[i - 1].number && x[i].what == x[i - 1].what)
            x[i].nth = x[i - 1].nth + 1;
}

static struct run rank_match_next_run(const struct matching *m, uint32_t at)
{
    struct run r = {at, 0};
    while (at + r.n < m->n && m->list[at + r.n].group == m->list[at].group &&
           m->list[at + r.n].rank == m->list[at].rank)
        r.n++;
    return r;
}

/* The run with most entries of a group is what the others are compared with. */
static void number_all(struct matching *m)
{
    for (uint32_t at = 0, end; at < m->n; at = end) {
        struct run most = {at, 0};
        for (end = at; end < m->n && m->list[end].group == m->list[at].group;) {
            struct run r = rank_match_next_run(m, end);
            if (r.n > most.n) most = r;
            end += r.n;
        }
        for (uint32_t i = at; i < end;) {
            struct run r = rank_match_next_run(m, i);
            number_run(m, most, r);
            i += r.n;
        }
    }
}

static bool same_collective(const struct entry *a, const struct entry *b)
{
    return a->group == b->group && a->number == b->number && a->what == b->what && a->nth == b->nth;
}

/* Where it was not recorded it is what was found, if all are there. */
static uint32_t rank_match_size_of(const struct rank_set *s, uint32_t rank, uint32_t group,
                                   uint32_t found)
{
    uint32_t known = s->ranks[rank].group_sizes ? s->ranks[rank].group_sizes[group] : 0;
    return known || s->n_missing ? known : found;
}

static int add_collective(struct matching *m, uint32_t at, uint32_t n)
{
    struct rank_set *s = m->s;
    const struct entry *x = m->list + at;
    const struct rank_event *first = rank_match_event_of(m, x);
    struct rank_collective *c = &s->list[s->n_list];
    *c = (struct rank_collective){.group = s->ranks[x->rank].group_names[first->group],
                                  .seq = x->number,
                                  .what = (enum collective)first->what,
                                  .numbered = first->seq >= 0,
                                  .bytes = -1};
    c->members = arena_zalloc(m->mem, n, sizeof *c->members);
    if (!c->members) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct rank_event *e = rank_match_event_of(m, &x[i]);
        bool twice =
            c->n && c->members[c->n - 1].rank == x[i].rank; /* numbers of one rank come again */
        if (e->what != first->what || twice) continue;
        c->members[c->n++] = (struct rank_member){.rank = x[i].rank, .event = x[i].event};
        if (e->bytes > c->bytes) c->bytes = e->bytes;
    }
    c->ranks = rank_match_size_of(s, x->rank, first->group, c->n);
    s->unmatched += n - (c->n > 1 ? c->n : 0);
    s->n_list += c->n > 1;
    return 0;
}

/* Of entries in order. */
static uint32_t count_collectives(const struct matching *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) n += !i || !same_collective(&m->list[i], &m->list[i - 1]);
    return n;
}

static int rank_match_join(struct matching *m)
{
    if (m->n) qsort(m->list, m->n, sizeof *m->list, rank_match_by_number);
    m->s->list = arena_zalloc(m->mem, (size_t)count_collectives(m) + 1, sizeof *m->s->list);
    if (!m->s->list) return ERR_NOMEM;
    for (uint32_t at = 0, end; at < m->n; at = end) {
        for (end = at + 1; end < m->n && same_collective(&m->list[end], &m->list[at]);) end++;
        if (end - at < 2) m->s->unmatched++;
        else TRY(add_collective(m, at, end - at));
    }
    return 0;
}

int rank_match(struct rank_set *s, struct arena *mem)
{
    struct matching m = {.s = s, .mem = mem};
    if (intern_init(&m.groups)) return ERR_NOMEM;
    int rc = rank_match_collect(&m);
    if (rc == 0 && m.n) qsort(m.list, m.n, sizeof *m.list, by_group);
    if (rc == 0) number_all(&m);
    if (rc == 0) rc = rank_match_join(&m);
    intern_done(&m.groups);
    mem_free(m.list);
    return rc;
}
