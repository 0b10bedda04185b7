/* rank_set.c: who is there, and who waited for whom. */
#include "analyze/ranks/rank_set.h"

#include <stdlib.h>

#include "analyze/ranks/ranks_constants.h"
#include "analyze/ranks/ranks_private.h"
#include "base/stats.h"

static int rank_set_by_rank(const void *a, const void *b)
{
    const struct rank_summary *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Those without a number get the numbers that are free, in the order of their files. */
static void number_rest(struct rank_summary *list, uint32_t n)
{
    int next = 0;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].rank >= next) next = list[i].rank + 1;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].rank < 0) list[i].rank = next++;
}

static int take_ranks(struct rank_summary *list, uint32_t n, struct arena *mem, struct rank_set *s)
{
    number_rest(list, n);
    if (n) qsort(list, n, sizeof *list, rank_set_by_rank);
    s->ranks = list;
    s->twice = arena_zalloc(mem, (size_t)n + 1, sizeof *s->twice);
    if (!s->twice) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].world > s->world) s->world = list[i].world;
        if (s->n && list[s->n - 1].rank == list[i].rank) s->twice[s->n_twice++] = list[i];
        else list[s->n++] = list[i];
    }
    return 0;
}

static int find_missing(struct rank_set *s, struct arena *mem)
{
    int highest = s->n ? s->ranks[s->n - 1].rank + 1 : 0;
    if (s->world < highest) s->world = highest;
    s->missing = arena_zalloc(mem, (size_t)s->world + 1, sizeof *s->missing);
    if (!s->missing) return ERR_NOMEM;
    uint32_t at = 0;
    for (int r = 0; r < s->world; r++) {
        if (at < s->n && s->ranks[at].rank == r) at++;
        else s->missing[s->n_missing++] = r;
    }
    return 0;
}

/* ---- waits */

/* When a member arrived, by a scale that all members share: before the common end where there is
 * one, by the aligned clocks elsewhere. */
static int64_t rank_set_arrival(const struct rank_set *s, const struct rank_collective *c,
                                const struct rank_member *m)
{
    const struct rank_event *e = &s->ranks[m->rank].events[m->event];
    switch (c->what) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_OTHER: return e->begin_ns - e->end_ns;
    default: return rank_set_time(s, m->rank, e->begin_ns);
    }
}

struct arrived {
    int64_t at_ns;
    uint32_t member;
};

/* The collective of a rank before the one at hand. */
struct before {
    int64_t end_ns, after_ns;
};

struct waiting {
    struct rank_set *s;
    int64_t *at; /* arrival of each member */
    int64_t *sorted;
    struct arrived *order;
    int64_t *since;        /* by rank: waited so far, in order of ends */
    const int64_t *seen;   /* by rank: `since` when it last met the group at hand */
    struct before *before; /* by rank */
};

static void rank_set_find_last(struct waiting *w, struct rank_collective *c)
{
    const struct rank_set *s = w->s;
    int64_t first = INT64_MAX, end = INT64_MIN;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rank_member *m = &c->members[i];
        w->at[i] = rank_set_arrival(s, c, m);
        if (w->at[i] < first) first = w->at[i];
        if (w->at[i] > w->at[c->last]) c->last = i;
        int64_t e = rank_set_time(s, m->rank, s->ranks[m->rank].events[m->event].end_ns);
        if (e > end) end = e;
    }
    const struct rank_member *last = &c->members[c->last];
    const struct rank_event *e = &s->ranks[last->rank].events[last->event];
    c->transfer_ns = e->end_ns - e->begin_ns;
    c->spread_ns = w->at[c->last] - first;
    c->end_ns = end;
    for (uint32_t i = 0; i < c->n; i++) c->members[i].wait_ns = (float)(w->at[c->last] - w->at[i]);
}

static int by_arrival(const void *a, const void *b)
{
    const struct arrived *x = a, *y = b;
    if (x->at_ns != y->at_ns) return x->at_ns < y->at_ns ? -1 : 1;
    return x->member < y->member ? -1 : x->member > y->member;
}

/* What others waited after half of them had come is shared by those that were not there yet. A
 * rank that waited for ranks of other groups meanwhile is not late by itself: that time does not
 * count. */
static void find_late(struct waiting *w, struct rank_collective *c)
{
    const int64_t *seen = w->seen;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t r = c->members[i].rank;
        w->order[i] = (struct arrived){w->at[i] - (w->since[r] - seen[r]), i};
        w->sorted[i] = w->at[i];
    }
    stats_sort(w->sorted, c->n);
    qsort(w->order, c->n, sizeof *w->order, by_arrival);
    uint32_t middle = (c->n - 1) / 2;
    int64_t share = 0;
    for (uint32_t k = middle + 1; k < c->n; k++) {
        struct rank_member *m = &c->members[w->order[k].member];
        int64_t own = w->order[k].at_ns - w->order[middle].at_ns;
        int64_t visible = w->at[w->order[k].member] - w->sorted[middle];
        share += (w->order[k].at_ns - w->order[k - 1].at_ns) / (c->n - k);
        if (own < rank_late_ns || visible < rank_late_ns) continue;
        m->after_ns = (float)(own < visible ? own : visible);
        m->late_ns = (float)(share < visible ? share : visible);
    }
}

/* A rank that comes late to two collectives that run beside each other is late once. */
static void count_once(struct waiting *w, struct rank_member *m)
{
    const struct rank_event *e = &w->s->ranks[m->rank].events[m->event];
    struct before *b = &w->before[m->rank];
    if (m->event && b->end_ns > e->begin_ns)
        m->late_ns = m->late_ns > (float)b->after_ns ? m->late_ns - (float)b->after_ns : 0;
    if (b->end_ns > e->begin_ns && (float)b->after_ns > m->after_ns) return;
    *b = (struct before){e->end_ns, (int64_t)m->after_ns};
}

static int rank_set_by_end(const void *a, const void *b)
{
    const struct rank_collective *x = a, *y = b;
    if (x->end_ns != y->end_ns) return x->end_ns < y->end_ns ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static bool is_early(const struct rank_set *s, const struct rank_collective *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rank_summary *r = &s->ranks[c->members[i].rank];
        if (r->events[c->members[i].event].begin_ns < r->from_ns) return true;
    }
    return false;
}

/* Where all are, there is nothing else to look at. */
static void rank_set_find_early(struct rank_set *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_list; i++) n += s->list[i].early = is_early(s, &s->list[i]);
    for (uint32_t i = 0; n == s->n_list && i < n; i++) s->list[i].early = false;
}

/* One collective after the other, by their ends; `seen` is by group and rank. */
static int walk_groups(struct waiting *w, struct intern *groups, struct arena *mem)
{
    struct rank_set *s = w->s;
    int64_t **seen = arena_zalloc(mem, (size_t)s->n_list + 2, sizeof *seen);
    if (!seen) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++) {
        struct rank_collective *c = &s->list[i];
        const struct rank_summary *r = &s->ranks[c->members[0].rank];
        str_id g = intern_add(groups, str_c(r->groups[r->events[c->members[0].event].group]));
        if (g == STR_NONE) return ERR_NOMEM;
        if (!seen[g]) seen[g] = arena_zalloc(mem, (size_t)s->n + 1, sizeof **seen);
        if (!seen[g]) return ERR_NOMEM;
        w->seen = seen[g];
        for (uint32_t k = 0; k < c->n; k++) w->at[k] = rank_set_arrival(s, c, &c->members[k]);
        bool planned = c->what == COLLECTIVE_SEND_RECV && s->pipeline.ranks;
        if (!c->early && !planned) find_late(w, c);
        for (uint32_t k = 0; k < c->n; k++) {
            uint32_t rank = c->members[k].rank;
            count_once(w, &c->members[k]);
            w->since[rank] += (int64_t)c->members[k].wait_ns;
            seen[g][rank] = w->since[rank];
            if (!c->early) s->wait_ns[rank] += (int64_t)c->members[k].wait_ns;
        }
    }
    return 0;
}

int rank_waits(struct rank_set *s, struct arena *mem)
{
    size_t n = (size_t)s->n + 1;
    struct waiting w = {.s = s,
                        .at = arena_zalloc(mem, n, sizeof *w.at),
                        .sorted = arena_zalloc(mem, n, sizeof *w.sorted),
                        .order = arena_zalloc(mem, n, sizeof *w.order),
                        .before = arena_zalloc(mem, n, sizeof *w.before),
                        .since = arena_zalloc(mem, n, sizeof *w.since)};
    struct intern groups;
    s->wait_ns = arena_zalloc(mem, n, sizeof *s->wait_ns);
    if (!s->wait_ns || !w.at || !w.sorted || !w.order || !w.before || !w.since) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++) rank_set_find_last(&w, &s->list[i]);
    if (s->n_list) qsort(s->list, s->n_list, sizeof *s->list, rank_set_by_end);
    rank_set_find_early(s);
    if (intern_init(&groups)) return ERR_NOMEM;
    int rc = walk_groups(&w, &groups, mem);
    intern_done(&groups);
    return rc;
}

static int rank_set_find_step(struct rank_set *s, struct arena *mem)
{
    int64_t *steps = arena_zalloc(mem, (size_t)s->n + 1, sizeof *steps);
    if (!steps) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n; i++) steps[i] = s->ranks[i].step_ns;
    stats_sort(steps, s->n);
    s->step_ns = stats_median(steps, s->n);
    return 0;
}

static int rank_set_do_run(struct rank_summary *list, uint32_t n, struct arena *mem,
                           struct rank_set *s)
{
    TRY(take_ranks(list, n, mem, s));
    TRY(find_missing(s, mem));
    TRY(rank_set_find_step(s, mem));
    TRY(rank_match(s, mem));
    TRY(rank_find_pipeline(s, mem));
    TRY(rank_clocks(s, mem));
    s->begin_ns = INT64_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t begin = s->ranks[i].begin_ns + (int64_t)s->clocks[i].offset_ns;
        if (begin < s->begin_ns) s->begin_ns = begin;
    }
    TRY(rank_waits(s, mem));
    TRY(rank_path(s, mem));
    TRY(rank_blame(s, mem));
    return rank_schedule(s, mem);
}

int rank_set_run(struct rank_summary *list, uint32_t n, struct arena *mem, struct rank_set *ret,
                 struct err *e)
{
    *ret = (struct rank_set){0};
    return rank_set_do_run(list, n, mem, ret) < 0 ? err_nomem(e) : 0;
}

double rank_collective_bus(const struct rank_collective *c)
{
    if (c->bytes <= 0 || c->transfer_ns <= 0) return 0;
    return (double)c->bytes / (double)c->transfer_ns * 1e9 *
           collective_bus_factor(c->what, c->ranks);
}
