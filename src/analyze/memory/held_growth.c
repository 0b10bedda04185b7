/* held_growth.c: whether memory grows from round to round, and what of it.
 *
 * A snapshot has no steps. But a loop allocates the same size on the same line in each of its
 * rounds, and at that point the level is the same each time, or rises by the same amount if the
 * loop keeps something. Layers of a network repeat on one line too: with p of them per round, the
 * level is compared with the one p allocations ago. Among everything allocated again and again,
 * what shows the most even steps, at some p, marks the rounds.
 *
 * One pass over many layers looks the same. Other work follows it in the recording, or it keeps
 * much of what it allocates, most of all where that is given back when the pass is over. A loop
 * goes on to the end, and gives most of it back in each round. */
#include <assert.h>
#include <stdlib.h>

#include "analyze/memory/held.h"
#include "analyze/memory/held_private.h"
#include "analyze/memory/memory_constants.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/seed.h"
#include "base/stats.h"
#include "base/vec.h"

enum { MOST_CANDIDATES = 48, MOST_PLACES = 4096, MOST_PER_ROUND = 128 };

/* Allocations of one size by one stack. */
struct repeat {
    uint32_t stack, count, first, last;
    int64_t size;
};

struct repeats {
    struct repeat *list;
    size_t n, cap;
};

static int held_growth_add_event(struct repeats *r, struct map *known, const struct snap_event *ev,
                                 uint32_t i, struct err *e)
{
    for (uint64_t key = seed_hash(ev->stack + 1) ^ seed_hash(~(uint64_t)ev->size);; key++) {
        uint32_t *slot = map_at(known, key);
        if (!slot) return err_nomem(e);
        if (*slot == MAP_NONE) {
            if (VEC_RESERVE(r->list, r->n, r->cap, 1)) return err_nomem(e);
            *slot = (uint32_t)r->n;
            r->list[r->n++] = (struct repeat){ev->stack, 0, i, i, ev->size};
        }
        assert(r->list);
        struct repeat *p = &r->list[*slot];
        if (p->stack != ev->stack || p->size != ev->size) continue;
        p->count++;
        p->last = i;
        return 0;
    }
}

static int held_growth_collect(const struct held *h, const struct held_device *d, struct repeats *r,
                               struct err *e)
{
    struct map known = {0};
    int rc = 0;
    for (uint32_t i = 0; i < d->n_events && rc == 0; i++) {
        const struct snap_event *ev = &h->s->events[d->first_event + i];
        if (ev->action == SNAP_ALLOC) rc = held_growth_add_event(r, &known, ev, i, e);
    }
    map_done(&known);
    return rc;
}

/* Rounds fill most of the recording. */
static bool may_mark(const struct repeat *r, const struct held_device *d)
{
    return r->count >= held_growth_rounds && r->count <= MOST_PLACES &&
           r->last - r->first >= d->n_events / 2;
}

static int by_bytes(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The events of a repeat, into `at` of MOST_PLACES; returns how many. */
static uint32_t held_growth_places(const struct held *h, const struct held_device *d,
                                   const struct repeat *r, uint32_t *at)
{
    uint32_t n = 0;
    for (uint32_t i = r->first; i <= r->last && n < MOST_PLACES; i++) {
        const struct snap_event *ev = &h->s->events[d->first_event + i];
        if (ev->action == SNAP_ALLOC && ev->stack == r->stack && ev->size == r->size) at[n++] = i;
    }
    return n;
}

/* How uneven the steps from round to round are, without the first: that one warms up. */
static int64_t held_growth_unevenness(const struct held_lives *l, const uint32_t *at, uint32_t n,
                                      uint32_t p)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 2 * p; i < n; i++) {
        int64_t step = l->level[at[i]] - l->level[at[i - p]];
        if (step < least) least = step;
        if (step > most) most = step;
    }
    return most - least;
}

/* A loop goes on until the recording ends: what follows the last allocation is no longer than what
 * lies between two of them. After the layers of a pass come its loss, the backward pass or the
 * optimizer. */
static bool held_growth_goes_on(const struct held_device *d, const uint32_t *at, uint32_t n)
{
    uint64_t longest = 0;
    for (uint32_t i = 1; i < n; i++)
        if (at[i] - at[i - 1] > longest) longest = at[i] - at[i - 1];
    return 100 * (uint64_t)(d->n_events - at[n - 1]) <= (uint64_t)held_growth_tail_pct * longest;
}

/* What is allocated from event `begin` to `end`. */
static int64_t held_growth_allocated(const struct held *h, const struct held_device *d,
                                     uint32_t begin, uint32_t end)
{
    int64_t sum = 0;
    for (uint32_t i = begin; i < end; i++) {
        const struct snap_event *ev = &h->s->events[d->first_event + i];
        if (ev->action == SNAP_ALLOC) sum += ev->size;
    }
    return sum;
}

static int64_t held_growth_lowest(const struct held_lives *l, uint32_t begin, uint32_t end)
{
    int64_t low = INT64_MAX;
    for (uint32_t i = begin; i < end; i++)
        if (l->level[i] < low) low = l->level[i];
    return low;
}

/* The marks of rounds: which repeat, and how many of it make one. */
struct marks {
    uint32_t repeat, per_round;
    int64_t uneven;
};

static void try_repeat(const struct held_lives *l, const uint32_t *at, uint32_t n, uint32_t repeat,
                       struct marks *best)
{
    if (!held_growth_goes_on(l->d, at, n)) return;
    for (uint32_t p = 1; p <= MOST_PER_ROUND && n / p >= held_growth_rounds; p++) {
        int64_t uneven = held_growth_unevenness(l, at, n, p);
        if (uneven < best->uneven) *best = (struct marks){repeat, p, uneven};
    }
}

static int compare_levels(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int held_growth_fill(const struct held *h, const struct held_lives *l, const uint32_t *at,
                            uint32_t n, struct err *e)
{
    struct held_growth *g = &l->d->growth;
    g->levels = arena_zalloc(h->mem, n, sizeof *g->levels);
    int64_t *steps = arena_zalloc(h->mem, n, sizeof *steps);
    if (!g->levels || !steps) return err_nomem(e);
    g->found = true;
    g->grows = true;
    g->n_rounds = n;
    for (uint32_t i = 0; i < n; i++) g->levels[i] = l->level[at[i]];
    for (uint32_t i = 2; i < n; i++) {
        steps[i - 2] = g->levels[i] - g->levels[i - 1];
        g->grows &= steps[i - 2] > 0;
    }
    qsort(steps, n - 2, sizeof *steps, compare_levels);
    g->per_round_bytes = steps[(n - 2) / 2];
    int64_t grown = g->levels[n - 1] - g->levels[1];
    double kept =
        stats_pct((double)grown, (double)held_growth_allocated(h, l->d, at[1], at[n - 1]));
    int64_t low = held_growth_lowest(l, at[1], at[2]);
    bool given_back = held_growth_lowest(l, at[n - 1], l->d->n_events) < low + grown / 2;
    g->as_layers = g->grows && kept >= (given_back ? held_growth_freed_pct : held_growth_kept_pct);
    return 0;
}

static int held_growth_larger(const void *a, const void *b)
{
    const struct held_by *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* What is held by each stack at `late` beyond what it held at `early`. */
static int held_growth_difference(const struct held *h, const struct held_lives *l, uint32_t early,
                                  uint32_t late, struct err *e)
{
    struct held_growth *g = &l->d->growth;
    struct held_sum was, is;
    uint32_t n = 0;
    TRY(held_add_up(h, l, early, &was, e));
    TRY(held_add_up(h, l, late, &is, e));
    g->by = is.by;
    struct map of = {0};
    int rc = 0;
    for (uint32_t i = 0; i < was.n && rc == 0; i++) {
        uint32_t *slot = map_at(&of, was.by[i].stack);
        if (slot) *slot = i;
        else rc = err_nomem(e);
    }
    for (uint32_t i = 0; i < is.n && rc == 0; i++) {
        uint32_t k = map_find(&of, g->by[i].stack);
        struct held_by more = g->by[i];
        if (k != MAP_NONE) more.bytes -= was.by[k].bytes;
        if (k != MAP_NONE)
            more.blocks = more.blocks > was.by[k].blocks ? more.blocks - was.by[k].blocks : 0;
        if (more.bytes > 0) g->by[n++] = more;
    }
    map_done(&of);
    g->n = n;
    if (n) qsort(g->by, n, sizeof *g->by, held_growth_larger);
    return rc;
}

static int held_growth_choose(const struct held *h, const struct held_lives *l, struct repeats *r,
                              struct err *e)
{
    struct held_device *d = l->d;
    uint32_t at[MOST_PLACES], n_may = 0;
    struct marks best = {HELD_NEVER, 0, INT64_MAX};
    for (size_t i = 0; i < r->n; i++)
        if (may_mark(&r->list[i], d)) r->list[n_may++] = r->list[i];
    if (n_may) qsort(r->list, n_may, sizeof *r->list, by_bytes);
    for (uint32_t i = 0; i < n_may && i < MOST_CANDIDATES; i++)
        try_repeat(l, at, held_growth_places(h, d, &r->list[i], at), i, &best);
    /* rounds whose levels jump about are none */
    if (best.repeat == HELD_NEVER || best.uneven > d->peak.live_bytes / 20) return 0;
    uint32_t n = held_growth_places(h, d, &r->list[best.repeat], at) / best.per_round;
    for (uint32_t i = 0; i < n; i++) at[i] = at[i * best.per_round];
    TRY(held_growth_fill(h, l, at, n, e));
    return d->growth.grows ? held_growth_difference(h, l, at[1], at[n - 1], e) : 0;
}

int held_growth_run(const struct held *h, const struct held_lives *l, struct err *e)
{
    struct repeats r = {0};
    int rc = held_growth_collect(h, l->d, &r, e);
    if (rc == 0) rc = held_growth_choose(h, l, &r, e);
    mem_free(r.list);
    return rc;
}
