/* rounds.c: see levels.h. Every plausible period is walked through once (a lag: items against those
 * a period later); the longest one that is not explained by a shorter one is the outermost. Its
 * rounds are then searched for elsewhere too, by an item that each has once. */
#include "analyze/structure/levels.h"

#include <stdlib.h>

#include "analyze/structure/period.h"
#include "analyze/structure/structure_constants.h"
#include "base/map.h"
#include "base/stats.h"

enum {
    RIVALS = 4, /* periods whose rounds are examined */
};

struct stretch {
    uint32_t begin, end, differ; /* item i against item i + period for i in [begin, end) */
};

struct lag {
    uint32_t period;
    struct stretch best;
    int64_t weight; /* of all stretches of this period */
    int64_t best_weight;
};

struct search {
    const struct rounds_seq *s;
    struct arena *mem, *scratch;
    int64_t *before; /* weight before each item; [n] is the total */
    struct lag lags[PERIOD_CANDIDATES];
    uint32_t n_lags;
};

static int64_t weight_of(const struct search *f, uint32_t begin, uint32_t end)
{
    return f->before[end] - f->before[begin];
}

/* Whether `part` is less than so many hundredths of `whole`. */
static bool is_below(int64_t part, int pct, int64_t whole)
{
    return 100 * (double)part < pct * (double)whole;
}

/* ---- lags ---- */

static uint32_t count_rounds(uint32_t period, struct stretch st)
{
    uint32_t all = st.end - st.begin + period;
    return (all + (period >= rounds_loose_period_items ? period / 10 : 0)) / period;
}

/* Where the rounds of a stretch end; the last may miss a little. */
static uint32_t rounds_end(const struct rounds_seq *s, uint32_t period, struct stretch st)
{
    uint64_t end = st.begin + (uint64_t)count_rounds(period, st) * period;
    return end < s->n ? (uint32_t)end : s->n;
}

static void take_stretch(const struct search *f, struct lag *l, struct stretch st, uint32_t *done)
{
    uint32_t n = st.end - st.begin;
    if (count_rounds(l->period, st) < 2 ||
        (uint64_t)st.differ * 100 > (uint64_t)rounds_slack_pct * n)
        return;
    uint32_t end = rounds_end(f->s, l->period, st), from = st.begin > *done ? st.begin : *done;
    int64_t own = weight_of(f, st.begin, end);
    if (from < end) l->weight += weight_of(f, from, end), *done = end;
    if (own > l->best_weight) l->best = st, l->best_weight = own;
}

/* A stretch goes on as long as what is equal outweighs what differs; it ends with the item up to
 * which that is most so. */
static void walk_lag(const struct search *f, struct lag *l)
{
    const struct rounds_seq *s = f->s;
    bool loose = l->period >= rounds_loose_period_items;
    struct stretch st = {0}, best = {0};
    int64_t score = 0, most = 0;
    uint32_t done = 0;
    for (uint32_t i = 0; i + l->period < s->n; i++) {
        bool same = s->items[i] == s->items[i + l->period];
        if (score == 0) best = st = (struct stretch){i, i, 0}, most = 0;
        score += same ? 1 : -rounds_difference_items;
        st.end = i + 1;
        st.differ += !same;
        if (score > most) most = score, best = st;
        if (score > 0 && (same || (loose && i - best.end < rounds_bridge_items))) continue;
        take_stretch(f, l, best, &done);
        score = 0;
    }
    take_stretch(f, l, best, &done);
}

static int by_period(const void *a, const void *b)
{
    const struct lag *x = a, *y = b;
    return (x->period > y->period) - (x->period < y->period);
}

static int walk_lags(struct search *f, struct err *e)
{
    uint32_t candidates[PERIOD_CANDIDATES], n;
    struct period_seq seq = {f->s->items, f->s->weights, f->s->n, rounds_slack_pct};
    TRY(period_candidates(&seq, f->scratch, candidates, &n, e));
    for (uint32_t i = 0; i < n; i++) {
        struct lag l = {.period = candidates[i]};
        walk_lag(f, &l);
        if (l.best_weight > 0) f->lags[f->n_lags++] = l;
    }
    qsort(f->lags, f->n_lags, sizeof *f->lags, by_period);
    return 0;
}

/* Whether the repetition `p` is only a number of the shorter one `q`, in one piece: "abababab" is
 * four of "ab", not two of "abab". Where q leaves out what p repeats ("bbbbbh bbbbbh"), p is not
 * explained; unless it is hardly more than q, a few times, occasionally a little different. */
static bool rounds_explains(const struct lag *q, const struct lag *p)
{
    if (q->best.begin > p->best.begin + q->period) return false;
    if (q->best.end + 2ull * q->period + p->period / 10 < p->best.end + (uint64_t)p->period)
        return false;
    uint64_t q_n = q->best.end - q->best.begin, p_n = p->best.end - p->best.begin;
    bool as_exact = q->best.differ * p_n * 5 <= p->best.differ * q_n * 6;
    return as_exact || p->period <= rounds_few_inside * q->period + rounds_few_inside;
}

/* The periods that no shorter one explains, the longest first. */
static uint32_t list_rivals(const struct search *f, const struct lag **ret)
{
    int64_t most = 0, all = f->before[f->s->n];
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_lags; i++)
        if (f->lags[i].weight > most) most = f->lags[i].weight;
    if (most <= 0 || is_below(most, rounds_cover_pct, all)) return 0;
    for (uint32_t i = f->n_lags; i-- > 0 && n < RIVALS;) {
        const struct lag *p = &f->lags[i];
        bool explained = is_below(p->weight, rounds_rival_pct, most);
        for (uint32_t k = 0; k < i && !explained; k++) explained = rounds_explains(&f->lags[k], p);
        if (!explained) ret[n++] = p;
    }
    return n;
}

/* ---- rounds ---- */

/* How far the rounds may be moved without losing one: items that go on repeating after the last. */
static uint32_t spare_of(const struct search *f, const struct lag *l)
{
    uint32_t end = rounds_end(f->s, l->period, l->best), reach = l->best.end + l->period;
    return reach > end ? reach - end : 0;
}

/* How long the pauses before rounds are in total when they are moved by `shift` items. */
static int64_t pauses_at(const struct search *f, const struct lag *l, uint32_t shift)
{
    int64_t sum = 0;
    for (uint32_t i = 0, n = count_rounds(l->period, l->best); i < n; i++) {
        uint64_t at = l->best.begin + shift + (uint64_t)i * l->period;
        if (at < f->s->n) sum += f->s->pauses[at];
    }
    return sum;
}

/* Rounds that do not begin with the sequence begin where the pause before them is the longest: what
 * stands before the loop may look like the end of a round. That they lose one by it has to be worth
 * it. */
static uint32_t best_shift(const struct search *f, const struct lag *l)
{
    uint32_t best = 0, spare = spare_of(f, l), n = count_rounds(l->period, l->best);
    int64_t longest = -1;
    if (l->best.begin == 0) return 0;
    for (uint32_t shift = 0; shift < (n >= rounds_many ? l->period : spare + 1); shift++) {
        int64_t sum = pauses_at(f, l, shift);
        bool better = shift <= spare ? sum > longest : sum / rounds_far_longer_times > longest;
        if (better) longest = sum, best = shift;
    }
    return best;
}

static int lay_rounds(struct search *f, const struct lag *l, struct rounds *ret, struct err *e)
{
    uint32_t n = count_rounds(l->period, l->best), shift = best_shift(f, l);
    uint32_t begin = l->best.begin + shift;
    if (shift > spare_of(f, l)) n--;
    ret->list = arena_zalloc(f->scratch, (size_t)f->s->n + 1, sizeof *ret->list);
    if (!ret->list) return err_nomem(e);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t end = begin + (i + 1ull) * l->period;
        uint32_t to = end < f->s->n ? (uint32_t)end : f->s->n;
        ret->list[ret->n++] = (struct round_run){begin + i * l->period, to};
    }
    ret->period = l->period;
    return 0;
}

/* ---- rounds elsewhere ---- */

/* An item, or a few in a row, that a round has exactly once. */
struct anchor {
    uint32_t offset, size; /* in the model round; size 0: none */
    uint64_t key;
};

static uint64_t rounds_gram(const struct rounds_seq *s, uint32_t at, uint32_t size)
{
    uint64_t h = size;
    for (uint32_t i = 0; i < size; i++) h = map_mix(h * 31 + s->items[at + i] + 1);
    return h;
}

/* How often each gram occurs, everywhere and inside the model round. */
struct counts {
    struct map inside, everywhere;
};

static bool count_grams(const struct rounds_seq *s, struct round_run model, uint32_t size,
                        struct counts *c)
{
    for (uint32_t i = 0; i + size <= s->n; i++) {
        uint64_t key = rounds_gram(s, i, size);
        uint32_t *all = map_at(&c->everywhere, key);
        if (!all) return true;
        *all = *all == MAP_NONE ? 1 : *all + 1;
        if (i < model.begin || i >= model.end) continue;
        uint32_t *in = map_at(&c->inside, key);
        if (!in) return true;
        *in = *in == MAP_NONE ? 1 : *in + 1;
    }
    return false;
}

/* How often something occurs that rounds have once: what most such grams agree on, for one of them
 * may be missing in a round and another stand outside of all. `v` is scratch. */
static uint32_t usual_count(const struct rounds_seq *s, struct round_run model, uint32_t size,
                            const struct counts *c, int64_t *v)
{
    uint32_t n = 0, best = 0, best_n = 0;
    for (uint32_t i = model.begin; i < model.end && i + size <= s->n; i++) {
        uint64_t key = rounds_gram(s, i, size);
        if (map_find(&c->inside, key) == 1) v[n++] = map_find(&c->everywhere, key);
    }
    stats_sort(v, n);
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && v[k] == v[i];) k++;
        if (k - i >= best_n) best_n = k - i, best = (uint32_t)v[i];
    }
    return best;
}

/* The first of those that the model has once and that occur as often as most of them. */
static void pick_anchor(const struct rounds_seq *s, struct round_run model, uint32_t size,
                        const struct counts *c, int64_t *scratch, struct anchor *ret)
{
    uint32_t usual = usual_count(s, model, size, c, scratch);
    for (uint32_t i = model.begin; i < model.end && i + size <= s->n && !ret->size; i++) {
        uint64_t key = rounds_gram(s, i, size);
        if (map_find(&c->inside, key) == 1 && map_find(&c->everywhere, key) == usual)
            *ret = (struct anchor){i - model.begin, size, key};
    }
}

static int find_anchor(struct search *f, struct round_run model, struct anchor *ret, struct err *e)
{
    bool failed = false;
    *ret = (struct anchor){0};
    int64_t *v = arena_zalloc(f->scratch, model.end - model.begin + 1u, sizeof *v);
    if (!v) return err_nomem(e);
    for (uint32_t size = 1; size <= 16 && !ret->size && !failed; size *= 2) {
        struct counts c;
        map_init(&c.inside);
        map_init(&c.everywhere);
        failed = count_grams(f->s, model, size, &c);
        if (!failed) pick_anchor(f->s, model, size, &c, v, ret);
        map_done(&c.inside);
        map_done(&c.everywhere);
    }
    return failed ? err_nomem(e) : 0;
}

/* Whether a run has most of its items in common with the model round, each as often as there; or,
 * where that has few, those that weigh the most. `count` is scratch, all zero before and after, by
 * item. */
static bool is_alike(const struct rounds_seq *s, struct round_run model, struct round_run run,
                     uint32_t *count)
{
    uint32_t same = 0, n = run.end - run.begin, m = model.end - model.begin;
    int64_t missing = 0, weight = 0;
    for (uint32_t i = model.begin; i < model.end; i++) count[s->items[i]]++;
    for (uint32_t i = run.begin; i < run.end; i++)
        if (count[s->items[i]]) count[s->items[i]]--, same++;
    for (uint32_t i = model.begin; i < model.end; i++) {
        weight += s->weights[i];
        if (count[s->items[i]]) missing += s->weights[i];
    }
    for (uint32_t i = model.begin; i < model.end; i++) count[s->items[i]] = 0;
    if (m < rounds_loose_period_items)
        return n <= m && is_below(missing, rounds_missing_pct, weight);
    return (uint64_t)same * 100 >= (uint64_t)rounds_alike_pct * (n > m ? n : m);
}

struct elsewhere {
    const struct rounds_seq *s;
    struct round_run model;
    struct anchor anchor;
    uint32_t *count; /* by item */
    struct round_run *list;
    uint32_t n;
    uint64_t compared; /* items so far: keeps the search linear where the anchor is everywhere */
};

/* The next anchor in [at, end), or `end`. */
static uint32_t next_anchor(const struct elsewhere *w, uint32_t at, uint32_t end)
{
    while (at < end && (at + w->anchor.size > w->s->n ||
                        rounds_gram(w->s, at, w->anchor.size) != w->anchor.key))
        at++;
    return at;
}

/* Where the round of an anchor at `at` begins: as far before it as things are the same. */
static uint32_t rounds_begin_of(const struct elsewhere *w, uint32_t at, uint32_t from)
{
    uint32_t k = w->anchor.offset;
    const uint32_t *items = w->s->items;
    while (at > from && k > 0 && items[at - 1] == items[w->model.begin + k - 1]) at--, k--;
    return at;
}

/* Adds the rounds between two that are known, or before the first and after the last. A round lasts
 * to the next one, unless that is far, or to the end of the sequence. */
static void search_gap(struct elsewhere *w, struct round_run gap)
{
    uint32_t period = w->model.end - w->model.begin, at = next_anchor(w, gap.begin, gap.end);
    uint32_t begin = rounds_begin_of(w, at, gap.begin);
    while (at < gap.end && w->compared <= rounds_compared_items * (uint64_t)w->s->n) {
        uint32_t after = next_anchor(w, at + 1, gap.end);
        uint32_t next = after < gap.end ? rounds_begin_of(w, after, at + 1) : gap.end;
        uint64_t far = begin + (uint64_t)period + (next < w->s->n ? period / 2 : 0);
        struct round_run run = {begin, next <= far ? next : begin + period};
        w->compared += run.end - run.begin;
        if (is_alike(w->s, w->model, run, w->count)) w->list[w->n++] = run;
        at = after;
        begin = next;
    }
}

static int search_elsewhere(struct search *f, struct rounds *r, struct err *e)
{
    const struct rounds_seq *s = f->s;
    uint32_t most = 0, at = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->items[i] > most) most = s->items[i];
    struct elsewhere w = {.s = s, .model = r->list[r->n / 2 < r->n - 1 ? r->n / 2 : 0]};
    TRY(find_anchor(f, w.model, &w.anchor, e));
    if (!w.anchor.size) return 0;
    w.count = arena_zalloc(f->scratch, (size_t)most + 1, sizeof *w.count);
    w.list = arena_zalloc(f->scratch, (size_t)s->n + 1, sizeof *w.list);
    if (!w.count || !w.list) return err_nomem(e);
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->list[i].begin > at) search_gap(&w, (struct round_run){at, r->list[i].begin});
        w.list[w.n++] = r->list[i];
        at = r->list[i].end;
    }
    if (at < s->n) search_gap(&w, (struct round_run){at, s->n});
    r->list = w.list;
    r->n = w.n;
    return 0;
}

static int rounds_of_lag(struct search *f, const struct lag *l, struct rounds *ret, struct err *e)
{
    *ret = (struct rounds){0};
    TRY(lay_rounds(f, l, ret, e));
    TRY(search_elsewhere(f, ret, e));
    for (uint32_t i = 0; i < ret->n; i++)
        ret->weight += weight_of(f, ret->list[i].begin, ret->list[i].end);
    return 0;
}

/* Whether the rounds of a shorter period hold much more; those of a little shorter one, a little
 * more: two rounds of different lengths alternately are not one long round. */
static bool is_beaten(const struct rounds *of, uint32_t n, uint32_t i)
{
    for (uint32_t k = i + 1; k < n; k++) {
        bool few = of[i].period <= rounds_few_inside * of[k].period + rounds_few_inside;
        if (is_below(of[i].weight, few ? rounds_as_much_pct : rounds_rival_pct, of[k].weight))
            return true;
    }
    return false;
}

/* The longest period whose rounds hold about as much as those of any other. */
static int rounds_do_find(struct search *f, struct rounds *ret, struct err *e)
{
    const struct rounds_seq *s = f->s;
    const struct lag *rivals[RIVALS];
    struct rounds of[RIVALS];
    uint32_t n, best = 0;
    f->before = arena_zalloc(f->scratch, (size_t)s->n + 1, sizeof *f->before);
    if (!f->before) return err_nomem(e);
    for (uint32_t i = 0; i < s->n; i++) f->before[i + 1] = f->before[i] + s->weights[i];
    TRY(walk_lags(f, e));
    n = list_rivals(f, rivals);
    for (uint32_t i = 0; i < n; i++) TRY(rounds_of_lag(f, rivals[i], &of[i], e));
    while (best < n && is_beaten(of, n, best)) best++;
    if (best == n) return 0;
    *ret = of[best];
    ret->list = arena_zalloc(f->mem, ret->n, sizeof *ret->list);
    if (!ret->list) return err_nomem(e);
    memcpy(ret->list, of[best].list, ret->n * sizeof *ret->list);
    return 0;
}

int rounds_find(const struct rounds_seq *s, struct arena *mem, struct arena *scratch,
                struct rounds *ret, struct err *e)
{
    *ret = (struct rounds){0};
    if (s->n < 2) return 0;
    struct arena_mark m = arena_mark(scratch);
    struct search f = {.s = s, .mem = mem, .scratch = scratch};
    int rc = rounds_do_find(&f, ret, e);
    arena_reset_to(scratch, m);
    return rc;
}

/* ---- pauses ---- */

/* Pauses before `n` rounds, seen as calls of `m` rounds each. */
struct calls_of_rounds {
    const int64_t *pauses;
    uint32_t n, m;
    int64_t *usual; /* by call: the median of the pauses inside it */
};

static void rounds_find_usual(struct calls_of_rounds *c, int64_t *scratch)
{
    for (uint32_t first = 0; first < c->n; first += c->m) {
        memcpy(scratch, c->pauses + first + 1, (c->m - 1) * sizeof *scratch);
        stats_sort(scratch, c->m - 1);
        c->usual[first / c->m] = stats_median(scratch, c->m - 1);
    }
}

static bool rounds_is_long(int64_t pause, int64_t usual)
{
    return pause - usual > rounds_pause_ns && pause > usual / 100 * rounds_long_pause_pct;
}

/* The usual pause around the begin of a call: in it, or in the one before, whichever is longer. */
static int64_t usual_around(const struct calls_of_rounds *c, uint32_t call)
{
    return c->usual[call] > c->usual[call - 1] ? c->usual[call] : c->usual[call - 1];
}

/* Whether the pause before a round is longer than all others less than a call away. */
static bool is_peak(const struct calls_of_rounds *c, uint32_t at)
{
    uint32_t from = at > c->m - 1 ? at - (c->m - 1) : 1;
    uint32_t to = at + c->m < c->n ? at + c->m : c->n;
    for (uint32_t i = from; i < to; i++)
        if (i != at && c->pauses[i] >= c->pauses[at]) return false;
    return true;
}

/* Whether nearly every call begins after a long pause, and hardly any round in it does; or after
 * the longest of all around, which few others being long does not change. A single such pause is
 * easily chance: that has to be far longer. */
static bool rounds_stands_out(const struct calls_of_rounds *c)
{
    uint32_t n_calls = c->n / c->m, between = 0, peaks = 0, inside = 0;
    for (uint32_t k = 1; k < n_calls; k++) {
        bool longer = rounds_is_long(c->pauses[k * c->m], usual_around(c, k));
        between += longer;
        peaks += is_peak(c, k * c->m);
    }
    for (uint32_t i = 1; i < c->n; i++)
        inside += i % c->m && rounds_is_long(c->pauses[i], c->usual[i / c->m]);
    if (between * 2 < n_calls - 1) return false;
    if (n_calls == 2)
        return peaks && c->pauses[c->m] / rounds_far_longer_times > usual_around(c, 1);
    if (peaks * 100 >= (n_calls - 1) * rounds_after_pause_pct) return true;
    return n_calls > rounds_few_calls && between * 100 >= (n_calls - 1) * rounds_after_pause_pct &&
           inside * 100 <= (c->n - n_calls) * rounds_pause_inside_pct;
}

int rounds_by_pauses(const int64_t *pauses, uint32_t n, struct arena *scratch, uint32_t *ret,
                     struct err *e)
{
    enum { FEWEST = 3 }; /* rounds inside one of the larger: two might be anything */
    *ret = 0;
    struct arena_mark mark = arena_mark(scratch);
    int64_t *v = arena_zalloc(scratch, (size_t)n + 1, sizeof *v);
    int64_t *usual = arena_zalloc(scratch, (size_t)n + 1, sizeof *usual);
    if (!v || !usual) return err_nomem(e);
    for (uint32_t m = FEWEST; m <= n / 2 && !*ret; m++) {
        struct calls_of_rounds c = {pauses, n, m, usual};
        if (n % m) continue;
        rounds_find_usual(&c, v);
        if (rounds_stands_out(&c)) *ret = m;
    }
    arena_reset_to(scratch, mark);
    return 0;
}
