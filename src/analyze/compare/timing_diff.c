/* timing_diff.c: see timings.h. */
#include "analyze/compare/timings.h"

#include <assert.h>
#include <math.h>

#include "base/intern.h"
#include "base/map.h"

/* The samples of one stage. */
struct samples {
    int64_t ns[2][TIMING_MOST_RUNS];
    uint32_t n[2];
};

/* A stage of one run, in the list of that stage over all runs. */
struct seen {
    const struct timing_stage *stage;
    int side;
    uint32_t next; /* or UINT32_MAX */
};

struct work {
    struct timing_diff *d;
    struct seen *seen;
    uint32_t n_seen;
    uint32_t *last; /* by change: the last one seen */
    struct map place;
    struct samples samples;
};

static enum timing_verdict timing_diff_judge(const struct diff_stats *s)
{
    switch (s->verdict) {
    case DIFF_NO_DIFFERENCE: return TIMING_SAME;
    case DIFF_FASTER: return TIMING_FASTER;
    case DIFF_SLOWER: return TIMING_SLOWER;
    case DIFF_UNKNOWN: break;
    }
    return TIMING_UNKNOWN;
}

static void timing_diff_collect(struct work *w, uint32_t change)
{
    struct timing_change *c = &w->d->changes[change];
    struct samples *s = &w->samples;
    s->n[0] = s->n[1] = 0;
    c->peak_bytes[0] = c->peak_bytes[1] = -1;
    for (uint32_t i = w->last[change]; i != UINT32_MAX; i = w->seen[i].next) {
        const struct timing_stage *st = w->seen[i].stage;
        int k = w->seen[i].side;
        if (st->count && st->median_ns > 0 && s->n[k] < TIMING_MOST_RUNS)
            s->ns[k][s->n[k]++] = st->median_ns;
        if (st->peak_bytes > c->peak_bytes[k]) c->peak_bytes[k] = st->peak_bytes;
        *(k ? &c->after : &c->before) = st; /* the list runs backwards: the first run stays */
    }
}

static void timing_diff_compare(struct work *w, uint32_t change)
{
    struct timing_change *c = &w->d->changes[change];
    const struct samples *s = &w->samples;
    timing_diff_collect(w, change);
    diff_stats(s->ns[0], s->n[0], s->ns[1], s->n[1], &c->stats);
    c->change_pct = c->stats.n[0] && c->stats.n[1] ? c->stats.change_pct : NAN;
    c->verdict = c->before && c->after ? timing_diff_judge(&c->stats) : TIMING_ONE_SIDE;
    w->d->n_faster += c->verdict == TIMING_FASTER;
    w->d->n_slower += c->verdict == TIMING_SLOWER;
}

static int timing_diff_match(struct work *w, int side, const struct timing *t)
{
    struct timing_diff *d = w->d;
    for (uint32_t i = 0; i < t->n_stages; i++) {
        const struct timing_stage *s = &t->stages[i];
        uint32_t *slot = map_at(&w->place, intern_hash(str_c(s->path)));
        if (!slot) return ERR_NOMEM;
        if (*slot == MAP_NONE) {
            *slot = d->n++;
            d->changes[*slot] = (struct timing_change){.path = s->path, .name = s->name};
            w->last[*slot] = UINT32_MAX;
        }
        w->seen[w->n_seen] = (struct seen){s, side, w->last[*slot]};
        w->last[*slot] = w->n_seen++;
    }
    return 0;
}

static int match_all(struct work *w, struct arena *mem)
{
    struct timing_diff *d = w->d;
    size_t most = 1;
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < d->side[s].n; i++) most += d->side[s].runs[i].n_stages;
    d->changes = arena_zalloc(mem, most, sizeof *d->changes);
    w->seen = arena_zalloc(mem, most, sizeof *w->seen);
    w->last = arena_zalloc(mem, most, sizeof *w->last);
    if (!d->changes || !w->seen || !w->last) return ERR_NOMEM;
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < d->side[s].n; i++)
            TRY(timing_diff_match(w, s, &d->side[s].runs[i]));
    return 0;
}

static void compare_walls(struct work *w)
{
    struct samples *s = &w->samples;
    for (int k = 0; k < 2; k++) {
        s->n[k] = w->d->side[k].n;
        for (uint32_t i = 0; i < s->n[k]; i++) s->ns[k][i] = w->d->side[k].runs[i].wall_ns;
    }
    diff_stats(s->ns[0], s->n[0], s->ns[1], s->n[1], &w->d->wall);
}

int timing_diff_run(struct timing_side before, struct timing_side after, struct arena *mem,
                    struct timing_diff *ret, struct err *e)
{
    assert(before.n <= TIMING_MOST_RUNS && after.n <= TIMING_MOST_RUNS);
    *ret = (struct timing_diff){.side = {before, after}};
    struct work *w = arena_zalloc(mem, 1, sizeof *w);
    if (!w) return err_nomem(e);
    w->d = ret;
    map_init(&w->place);
    int rc = match_all(w, mem);
    map_done(&w->place);
    TRY(err_grow(e, rc));
    for (uint32_t i = 0; i < ret->n; i++) timing_diff_compare(w, i);
    compare_walls(w);
    return 0;
}
