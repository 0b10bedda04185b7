/* period.c: candidate periods are voted for, then each is checked in one walk.
 *
 * In a sequence of period p, a run of items that occurs once a repetition is p away from its last
 * occurrence. So every short run (of 1, 4 and 16 items) votes for its distance to the previous
 * equal run; the distances that explain most of the sequence are walked through. */
#include "analyze/structure/period.h"

#include <stdlib.h>

#include "base/map.h"

static const int grams[] = {1, 4, 16};

struct vote {
    uint32_t distance, votes;
};

/* Best explained first: a distance with v votes explains about v * distance items. */
static int by_weight(const void *a, const void *b)
{
    const struct vote *x = a, *y = b;
    uint64_t wx = (uint64_t)x->distance * x->votes, wy = (uint64_t)y->distance * y->votes;
    if (wx != wy) return wx > wy ? -1 : 1;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

static uint64_t gram_key(const uint32_t *items, int n)
{
    uint64_t h = (uint64_t)n;
    for (int i = 0; i < n; i++) h = map_mix(h * 31 + items[i] + 1);
    return h;
}

/* votes[d] += 1 for every gram whose previous equal stands d before it. */
static bool period_vote(const struct period_seq *s, int gram, uint32_t *votes)
{
    struct map last;
    map_init(&last);
    bool failed = map_reserve(&last, s->n);
    for (uint32_t i = 0; !failed && i + (uint32_t)gram <= s->n; i++) {
        uint32_t *at = map_at(&last, gram_key(s->items + i, gram));
        if (!at) failed = true;
        else if (*at != MAP_NONE) votes[i - *at]++;
        if (at) *at = i;
    }
    map_done(&last);
    return failed;
}

/* A stretch under way: item i against item i + period for i in [begin, end). */
struct stretch {
    uint32_t begin, end, differ;
};

/* A multiple of a period covers about as much as the period itself: the period is meant. */
static bool period_better(const struct repeat *a, const struct repeat *b)
{
    if (!b->count) return true;
    if (a->period % b->period == 0 && a->period != b->period)
        return a->weight - b->weight > b->weight / 20;
    if (b->period % a->period == 0 && a->period != b->period)
        return b->weight - a->weight <= a->weight / 20;
    return a->weight > b->weight || (a->weight == b->weight && a->period < b->period);
}

static void period_consider(const struct period_seq *s, const int64_t *before, struct stretch st,
                            uint32_t period, struct repeat *best)
{
    uint32_t n = st.end - st.begin, all = n + period;
    if (!period) return;
    uint32_t count = (all + (s->slack_pct ? period / 10 : 0)) / period;
    if (count < 2 || (uint64_t)st.differ * 100 > (uint64_t)s->slack_pct * n) return;
    uint32_t end = st.begin + count * period;
    if (end > s->n) end = s->n;
    uint32_t spare = st.begin + all > end ? st.begin + all - end : 0;
    struct repeat found = {st.begin, period, count, end, spare, before[end] - before[st.begin]};
    if (period_better(&found, best)) *best = found;
}

static void check_period(const struct period_seq *s, const int64_t *before, uint32_t period,
                         struct repeat *best)
{
    uint32_t bridge = s->slack_pct ? 2 : 0; /* differences in a row that a stretch survives */
    struct stretch st = {0};
    bool open = false;
    for (uint32_t i = 0; i + period < s->n; i++) {
        if (s->items[i] == s->items[i + period]) {
            if (!open) st = (struct stretch){i, i, 0};
            open = true;
            st.differ += i - st.end;
            st.end = i + 1;
        } else if (open && i + 1 - st.end > bridge) {
            period_consider(s, before, st, period, best);
            open = false;
        }
    }
    if (open) period_consider(s, before, st, period, best);
}

/* Distances that leave room for two repetitions, the most telling first. */
static uint32_t period_rank(const struct period_seq *s, const uint32_t *votes, struct vote *list)
{
    uint32_t m = 0;
    uint32_t longest = s->slack_pct ? (uint32_t)((uint64_t)s->n * 10 / 19) : s->n / 2;
    for (uint32_t d = 1; d <= longest; d++)
        if (votes[d]) list[m++] = (struct vote){d, votes[d]};
    qsort(list, m, sizeof *list, by_weight);
    return m < PERIOD_CANDIDATES ? m : PERIOD_CANDIDATES;
}

int period_candidates(const struct period_seq *s, struct arena *mem, uint32_t *ret, uint32_t *ret_n,
                      struct err *e)
{
    struct arena_mark m = arena_mark(mem);
    uint32_t *votes = arena_zalloc(mem, (size_t)s->n + 1, sizeof *votes);
    struct vote *list = arena_zalloc(mem, (size_t)s->n + 1, sizeof *list);
    bool failed = !votes || !list;
    for (size_t g = 0; !failed && g < sizeof grams / sizeof *grams; g++)
        failed = period_vote(s, grams[g], votes);
    *ret_n = failed ? 0 : period_rank(s, votes, list);
    for (uint32_t i = 0; i < *ret_n; i++) ret[i] = list[i].distance;
    arena_reset_to(mem, m);
    return failed ? err_nomem(e) : 0;
}

int period_find(const struct period_seq *s, struct arena *mem, struct repeat *ret, struct err *e)
{
    struct repeat best = {0};
    uint32_t candidates[PERIOD_CANDIDATES], n;
    TRY(period_candidates(s, mem, candidates, &n, e));
    struct arena_mark m = arena_mark(mem);
    int64_t *before = arena_zalloc(mem, (size_t)s->n + 1, sizeof *before);
    if (!before) return err_nomem(e);
    for (uint32_t i = 0; i < s->n; i++) before[i + 1] = before[i] + s->weights[i];
    for (uint32_t i = 0; i < n; i++) check_period(s, before, candidates[i], &best);
    arena_reset_to(mem, m);
    *ret = best;
    return 0;
}
