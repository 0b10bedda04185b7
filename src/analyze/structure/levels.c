/* levels.c: see levels.h. */
#include "analyze/structure/levels.h"

#include "analyze/names/label.h"
#include "analyze/names/torch_words.h"
#include "analyze/structure/structure_constants.h"
#include "analyze/structure/structure_private.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/stats.h"
#include "base/vec.h"

enum {
    DEEPEST = 64,
};

struct search {
    const struct outline *o;
    struct arena *mem;
    struct arena scratch;
    uint32_t via; /* the outermost call the search has gone into, or ITEM_NONE */

    /* by token of the outline: its number among those of the range last read, valid where `range`
     * is that of `n_ranges`; so that a range costs what is in it */
    uint32_t *number, *range;
    uint32_t n_ranges;
};

struct range {
    uint32_t first, end;
};

/* The items of a range that are in no other of it, as a sequence. */
struct roots {
    uint32_t *at;     /* items */
    uint32_t *tokens; /* numbered from 0 on */
    int64_t *weights, *pauses;
    uint32_t n;
    int64_t weight;
};

/* The next item of a range that is in no other; one that reaches out of it is looked into. */
static uint32_t next_root(const struct outline_item *items, uint32_t i, uint32_t end)
{
    while (i < end && items[i].end > end) i++;
    return i < end ? i : end;
}

static uint32_t number_token(struct search *s, uint32_t token, uint32_t *n)
{
    if (s->range[token] != s->n_ranges) {
        s->range[token] = s->n_ranges;
        s->number[token] = (*n)++;
    }
    return s->number[token];
}

static int read_roots(struct search *s, struct range r, struct roots *ret, struct err *e)
{
    const struct outline_item *items = s->o->items;
    uint32_t n = 0;
    for (uint32_t i = next_root(items, r.first, r.end); i < r.end;
         i = next_root(items, items[i].end, r.end))
        n++;
    struct roots v = {arena_zalloc(&s->scratch, n + 1u, sizeof *v.at),
                      arena_zalloc(&s->scratch, n + 1u, sizeof *v.tokens),
                      arena_zalloc(&s->scratch, n + 1u, sizeof *v.weights),
                      arena_zalloc(&s->scratch, n + 1u, sizeof *v.pauses),
                      0,
                      0};
    if (!v.at || !v.tokens || !v.weights || !v.pauses) return err_nomem(e);
    int64_t done = INT64_MAX;
    uint32_t n_tokens = 0;
    s->n_ranges++;
    for (uint32_t i = next_root(items, r.first, r.end); i < r.end;
         i = next_root(items, items[i].end, r.end)) {
        v.at[v.n] = i;
        v.tokens[v.n] = number_token(s, items[i].token, &n_tokens);
        v.weights[v.n] = items[i].weight + 1; /* waits weigh something */
        v.pauses[v.n] = items[i].begin_ns > done ? items[i].begin_ns - done : 0;
        v.weight += v.weights[v.n++];
        if (done == INT64_MAX || items[i].end_ns > done) done = items[i].end_ns;
    }
    *ret = v;
    return 0;
}

static struct range range_of(const struct search *s, const struct roots *v, struct round_run run)
{
    return (struct range){v->at[run.begin], s->o->items[v->at[run.end - 1]].end};
}

static bool holds_little(const struct rounds *r, const struct roots *v)
{
    return 100 * (double)r->weight < levels_cover_pct * (double)v->weight;
}

/* One kernel over and over, or a few of them twice, is not a loop; a call, a region or a graph is.
 */
static bool is_loop(const struct search *s, const struct roots *v, const struct rounds *r)
{
    bool leaves = true;
    uint32_t launches = 0;
    if (r->n < 2 || holds_little(r, v)) return false;
    for (uint32_t i = r->list[0].begin; i < r->list[0].end && leaves; i++) {
        const struct outline_item *it = &s->o->items[v->at[i]];
        leaves = outline_is_leaf(it) && !it->graph;
        launches += it->launches;
    }
    if (!leaves) return true;
    if (launches < r->period) launches = r->period;
    return launches > 1 && (launches >= levels_short_period_leaves || r->n >= levels_short_repeats);
}

/* Rounds too small to be a loop, with a longer pause after every so many: those are the rounds. */
static int join_by_pauses(struct search *s, const struct roots *v, struct rounds *r, struct err *e)
{
    uint32_t inside = 0;
    if (r->n < 2 || holds_little(r, v)) return 0;
    int64_t *pauses = arena_zalloc(&s->scratch, r->n, sizeof *pauses);
    if (!pauses) return err_nomem(e);
    for (uint32_t i = 0; i < r->n; i++) pauses[i] = v->pauses[r->list[i].begin];
    TRY(rounds_by_pauses(pauses, r->n, &s->scratch, &inside, e));
    if (!inside) return 0;
    r->n /= inside;
    r->period *= inside;
    for (uint32_t i = 0; i < r->n; i++)
        r->list[i] =
            (struct round_run){r->list[i * inside].begin, r->list[(i + 1) * inside - 1].end};
    return 0;
}

/* The token of calls, not leaves, that weighs the most in total, and how often it comes. */
static int heaviest_call(struct search *s, const struct roots *v, uint32_t *ret_token,
                         uint32_t *ret_n, struct err *e)
{
    int64_t *sum = arena_zalloc(&s->scratch, v->n + 1u, sizeof *sum);
    int64_t most = 0;
    if (!sum) return err_nomem(e);
    *ret_n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        if (outline_is_leaf(&s->o->items[v->at[i]])) continue;
        sum[v->tokens[i]] += v->weights[i];
        if (sum[v->tokens[i]] > most) most = sum[v->tokens[i]], *ret_token = v->tokens[i];
    }
    for (uint32_t i = 0; i < v->n && most * 2 > v->weight; i++)
        *ret_n += v->tokens[i] == *ret_token;
    return 0;
}

/* Rounds that have nothing in common but one call that takes most of the time: each from that call
 * to the next, the last as long as it takes. */
static int rounds_by_call(struct search *s, const struct roots *v, struct rounds *ret,
                          struct err *e)
{
    uint32_t token = 0, n;
    *ret = (struct rounds){0};
    TRY(heaviest_call(s, v, &token, &n, e));
    if (n < 2) return 0;
    ret->list = arena_zalloc(&s->scratch, n, sizeof *ret->list);
    if (!ret->list) return err_nomem(e);
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->tokens[i] != token) continue;
        if (ret->n) ret->list[ret->n - 1].end = i;
        ret->list[ret->n++] = (struct round_run){i, i + 1};
    }
    ret->period = ret->list[0].end - ret->list[0].begin;
    ret->weight = v->weight;
    return 0;
}

/* The call that holds the most, an optimizer aside: that has parameters, not layers. */
static uint32_t levels_heaviest(const struct search *s, const struct roots *v)
{
    uint32_t best = ITEM_NONE;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct outline_item *it = &s->o->items[v->at[i]];
        if (it->end == v->at[i] + 1 || torch_is_optimizer(it->name)) continue;
        if (best == ITEM_NONE || it->weight > s->o->items[best].weight) best = v->at[i];
    }
    return best;
}

/* The rounds of the first level at or below the range; *ret_n stays 0 when there is none. */
struct found {
    struct range *list;
    uint32_t n, period;
    int64_t *pauses; /* before each round */
};

static int keep_rounds(struct search *s, const struct roots *v, const struct rounds *r,
                       struct found *ret, struct err *e)
{
    ret->list = arena_zalloc(&s->scratch, r->n, sizeof *ret->list);
    ret->pauses = arena_zalloc(&s->scratch, r->n, sizeof *ret->pauses);
    if (!ret->list || !ret->pauses) return err_nomem(e);
    for (uint32_t i = 0; i < r->n; i++) {
        ret->list[i] = range_of(s, v, r->list[i]);
        ret->pauses[i] = v->pauses[r->list[i].begin];
    }
    ret->n = r->n;
    ret->period = r->period;
    return 0;
}

/* Two groups, one far larger than the other, are a warm-up and the loop itself: nothing larger
 * comes again. */
static bool is_warm_up(const uint32_t *cuts, uint32_t n)
{
    uint32_t first = cuts[0], second = n == 2 ? cuts[1] - cuts[0] : first;
    return n == 2 &&
           (first > second * levels_far_more_times || second > first * levels_far_more_times);
}

/* Every so many rounds are one of something larger: separated by pauses, or by what else stands
 * between them. `cuts` gets the number of rounds up to the end of each; at least two, or none. */
static int cut_rounds(struct search *s, const struct found *f, uint32_t *cuts, uint32_t *ret_n,
                      struct err *e)
{
    uint32_t n = 0, inside, begin = 0;
    bool thin = false;
    for (uint32_t i = 1; i <= f->n; i++) {
        if (i < f->n && f->list[i].first <= f->list[i - 1].end + f->period / 2) continue;
        thin |= i - begin < 2;
        cuts[n++] = begin = i;
    }
    *ret_n = thin || n < 2 || is_warm_up(cuts, n) ? 0 : n;
    if (n > 1) return 0;
    TRY(rounds_by_pauses(f->pauses, f->n, &s->scratch, &inside, e));
    for (n = 0; inside && (n + 1) * inside <= f->n; n++) cuts[n] = (n + 1) * inside;
    *ret_n = inside ? n : 0;
    return 0;
}

/* Whether the rounds are made of leaves: then there may be more around them than can be seen. */
static bool is_flat(const struct search *s, const struct found *f)
{
    for (uint32_t i = f->list[0].first; i < f->list[0].end; i++)
        if (!outline_is_leaf(&s->o->items[i]) && s->o->items[i].from != ORIGIN_COMPILED)
            return false;
    return true;
}

/* The larger rounds instead, where there are some; the smaller ones are found in them again. What
 * stands before a group of rounds belongs to it. */
static int join_rounds(struct search *s, struct found *f, struct err *e)
{
    uint32_t n;
    if (!is_flat(s, f)) return 0;
    uint32_t *cuts = arena_zalloc(&s->scratch, f->n + 1u, sizeof *cuts);
    if (!cuts) return err_nomem(e);
    TRY(cut_rounds(s, f, cuts, &n, e));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = i ? f->list[i - 1].end : f->list[0].first;
        f->list[i] = (struct range){from, f->list[cuts[i] - 1].end};
    }
    if (n) f->period *= cuts[0], f->n = n;
    return 0;
}

static int search_range(struct search *s, struct range at, struct found *ret, struct err *e)
{
    *ret = (struct found){0};
    for (int depth = 0; depth < DEEPEST && at.first < at.end; depth++) {
        struct roots v;
        struct rounds r = {0};
        TRY(read_roots(s, at, &v, e));
        struct rounds_seq seq = {v.tokens, v.weights, v.pauses, v.n};
        TRY(rounds_find(&seq, s->mem, &s->scratch, &r, e));
        if (!is_loop(s, &v, &r)) TRY(join_by_pauses(s, &v, &r, e));
        if (!is_loop(s, &v, &r)) TRY(rounds_by_call(s, &v, &r, e));
        if (r.n) {
            TRY(keep_rounds(s, &v, &r, ret, e));
            return join_rounds(s, ret, e);
        }
        uint32_t into = levels_heaviest(s, &v);
        if (into == ITEM_NONE) return 0;
        if (s->via == ITEM_NONE) s->via = into;
        at = (struct range){into + 1, s->o->items[into].end};
    }
    return 0;
}

/* ---- a level ---- */

struct growing {
    struct level_round *list;
    size_t n, cap;
};

static int64_t levels_end_of(const struct outline *o, struct range r)
{
    int64_t end = o->items[r.first].end_ns;
    for (uint32_t i = r.first; i < r.end; i = o->items[i].end)
        if (o->items[i].end_ns > end) end = o->items[i].end_ns;
    return end;
}

static int levels_add_rounds(const struct search *s, const struct found *f, uint32_t outer,
                             struct growing *g)
{
    if (VEC_RESERVE(g->list, g->n, g->cap, f->n)) return ERR_NOMEM;
    for (uint32_t i = 0; i < f->n; i++) {
        int64_t end = levels_end_of(s->o, f->list[i]);
        struct level_round *last = i ? &g->list[g->n - 1] : NULL;
        g->list[g->n] = (struct level_round){s->o->items[f->list[i].first].begin_ns,
                                             end,
                                             end,
                                             f->list[i].first,
                                             f->list[i].end,
                                             outer};
        bool follows = last && last->end == f->list[i].first;
        if (follows || (last && last->end_ns > g->list[g->n].begin_ns))
            last->end_ns = g->list[g->n].begin_ns;
        g->n++;
    }
    return 0;
}

static int64_t levels_duration(const struct level_round *r)
{
    return r->end_ns - r->begin_ns;
}

static int levels_measure(struct search *s, struct level *l, struct err *e)
{
    struct arena_mark m = arena_mark(&s->scratch);
    int64_t *v = arena_zalloc(&s->scratch, l->n + 1u, sizeof *v);
    if (!v) return err_nomem(e);
    for (uint32_t i = 0; i < l->n; i++) v[i] = levels_duration(&l->rounds[i]);
    stats_sort(v, l->n);
    l->median_ns = stats_median(v, l->n);
    uint32_t n = 0;
    for (uint32_t i = 0, k; i < l->n; i = k) {
        for (k = i; k < l->n && l->rounds[k].outer == l->rounds[i].outer;) k++;
        v[n++] = k - i;
    }
    stats_sort(v, n);
    l->per_outer = (uint32_t)stats_median(v, n);
    arena_reset_to(&s->scratch, m);
    return 0;
}

/* The call that makes up most of a round, or ITEM_NONE. */
uint32_t level_main(const struct outline *o, const struct level_round *r)
{
    uint32_t best = ITEM_NONE;
    int64_t all = 0;
    for (uint32_t i = r->first; i < r->end; i = o->items[i].end) {
        all += o->items[i].weight;
        if (outline_is_leaf(&o->items[i])) continue;
        if (best == ITEM_NONE || o->items[i].weight > o->items[best].weight) best = i;
    }
    return best != ITEM_NONE && o->items[best].weight * 2 >= all ? best : ITEM_NONE;
}

static enum origin leaves_from(const struct outline *o, const struct level_round *r)
{
    uint32_t ops = 0, kernels = 0;
    for (uint32_t i = r->first; i < r->end; i++) {
        if (o->items[i].from == ORIGIN_COMPILED || o->items[i].graph) return ORIGIN_COMPILED;
        ops += o->items[i].from == ORIGIN_OPS;
        kernels += o->items[i].from == ORIGIN_KERNELS;
    }
    return ops > kernels ? ORIGIN_OPS : ORIGIN_KERNELS;
}

static int add_level(struct search *s, const struct growing *g, uint32_t period, struct levels *ret,
                     struct err *e)
{
    struct level l = {.n = (uint32_t)g->n, .period = period, .name = {"", 0}};
    l.rounds = arena_alloc(s->mem, g->n * sizeof *l.rounds);
    if (!l.rounds) return err_nomem(e);
    memcpy(l.rounds, g->list, g->n * sizeof *l.rounds);
    const struct level_round *model = &l.rounds[l.n / 2];
    uint32_t main = level_main(s->o, model);
    bool call = main != ITEM_NONE && s->o->items[main].from != ORIGIN_COMPILED;
    l.from = call ? (enum origin)s->o->items[main].from : leaves_from(s->o, model);
    if (main != ITEM_NONE) l.name = s->o->items[main].name;
    TRY(levels_measure(s, &l, e));
    ret->list[ret->n++] = l;
    return 0;
}

/* ---- all levels ---- */

/* The level inside the rounds `outer`; adds nothing when most of them have none. */
static int find_inside(struct search *s, const struct level_round *outer, uint32_t n_outer,
                       struct levels *ret, bool *ret_found, struct err *e)
{
    struct growing g = {0};
    uint32_t with = 0, period = 0;
    int rc = 0;
    *ret_found = false;
    for (uint32_t i = 0; i < n_outer && rc == 0; i++) {
        struct found f;
        struct arena_mark m = arena_mark(&s->scratch);
        rc = search_range(s, (struct range){outer[i].first, outer[i].end}, &f, e);
        if (rc == 0 && f.n && levels_add_rounds(s, &f, i, &g)) rc = err_nomem(e);
        if (i <= n_outer / 2 && f.n) period = f.period;
        with += f.n > 0;
        arena_reset_to(&s->scratch, m);
    }
    *ret_found = rc == 0 && with * 2 >= n_outer && g.n >= 2;
    if (*ret_found) rc = add_level(s, &g, period, ret, e);
    mem_free(g.list);
    return rc;
}

static int find_deeper(struct search *s, struct levels *ret, struct err *e)
{
    bool found = ret->n > 0;
    while (found && ret->n < LEVELS_MOST) {
        const struct level *last = &ret->list[ret->n - 1];
        TRY(find_inside(s, last->rounds, last->n, ret, &found, e));
    }
    return 0;
}

static bool levels_holds_most(const struct outline *o, uint32_t item)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < o->n; i = o->items[i].end) all += o->items[i].weight;
    return o->items[item].weight * 2 > all;
}

/* A call around everything that repeats, where there is only one of it. */
static int levels_add_whole(struct search *s, struct range all, struct levels *ret, struct err *e)
{
    struct growing g = {0};
    if (s->via != ITEM_NONE && levels_holds_most(s->o, s->via))
        all = (struct range){s->via, s->o->items[s->via].end};
    struct found f = {.list = &all, .n = 1};
    int rc = levels_add_rounds(s, &f, 0, &g) ? err_nomem(e) : add_level(s, &g, 1, ret, e);
    mem_free(g.list);
    return rc;
}

static int find_outermost(struct search *s, struct levels *ret, struct err *e)
{
    struct range all = {0, s->o->n};
    struct growing g = {0};
    struct found f;
    TRY(search_range(s, all, &f, e));
    if (!f.n) return 0;
    if (s->via != ITEM_NONE) TRY(levels_add_whole(s, all, ret, e));
    int rc = levels_add_rounds(s, &f, 0, &g) ? err_nomem(e) : add_level(s, &g, f.period, ret, e);
    mem_free(g.list);
    return rc;
}

/* What repeats inside a layer (three projections in a row) is of no interest. */
static void leave_out_details(struct levels *ls)
{
    for (uint32_t i = 0; i < ls->n; i++)
        if (ls->list[i].layers) ls->n = i + 1;
}

/* Nothing but layers was found: what they are the layers of is one step. */
static int put_whole_first(struct search *s, struct levels *ret, struct err *e)
{
    struct levels whole = {0};
    TRY(levels_add_whole(s, (struct range){0, s->o->n}, &whole, e));
    if (ret->n == LEVELS_MOST) ret->n--;
    memmove(&ret->list[1], &ret->list[0], ret->n * sizeof *ret->list);
    ret->list[0] = whole.list[0];
    ret->n++;
    ret->steps = 0;
    return 0;
}

static int search_init(struct search *s, const struct outline *o, struct arena *mem, struct err *e)
{
    *s = (struct search){.o = o, .mem = mem, .via = ITEM_NONE};
    arena_init(&s->scratch);
    s->number = arena_zalloc(&s->scratch, o->n_tokens + 1u, sizeof *s->number);
    s->range = arena_zalloc(&s->scratch, o->n_tokens + 1u, sizeof *s->range);
    return s->number && s->range ? 0 : err_nomem(e);
}

int levels_find(const struct outline *o, struct arena *mem, struct levels *ret, struct err *e)
{
    struct search s;
    *ret = (struct levels){0};
    int rc = search_init(&s, o, mem, e);
    if (rc == 0) rc = find_outermost(&s, ret, e);
    if (rc == 0) rc = find_deeper(&s, ret, e);
    if (rc == 0) rc = levels_judge(o, ret, false, e);
    leave_out_details(ret);
    if (rc == 0 && ret->n && ret->list[0].layers) rc = put_whole_first(&s, ret, e);
    arena_done(&s.scratch);
    return rc;
}

static uint32_t item_at(const struct outline *o, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, o->n, o->items[i].begin_ns < ts_ns);
    return i;
}

/* A round marked inside of a call begins with that call, when that ends in the round and does not
 * hold the round before, which begins at `after`. */
static uint32_t first_around(const struct outline *o, struct range r, int64_t after_ns)
{
    if (r.first >= r.end) return r.first;
    for (uint32_t up = o->items[r.first].parent; up != ITEM_NONE; up = o->items[up].parent) {
        if (o->items[up].end > r.end || o->items[up].begin_ns <= after_ns) break;
        r.first = up;
    }
    return r.first;
}

int levels_find_inside(const struct outline *o, const struct levels_within *rounds, uint32_t n,
                       struct arena *mem, struct levels *ret, struct err *e)
{
    struct search s;
    bool found;
    *ret = (struct levels){0};
    struct level_round *outer = arena_zalloc(mem, n + 1u, sizeof *outer);
    if (!outer) return err_nomem(e);
    for (uint32_t i = 0; i < n; i++) {
        struct range r = {item_at(o, rounds[i].begin_ns), item_at(o, rounds[i].end_ns)};
        outer[i].end = r.end;
        outer[i].first = first_around(o, r, i ? rounds[i - 1].begin_ns : INT64_MIN);
    }
    int rc = search_init(&s, o, mem, e);
    if (rc == 0) rc = find_inside(&s, outer, n, ret, &found, e);
    if (rc == 0) rc = find_deeper(&s, ret, e);
    arena_done(&s.scratch);
    if (rc < 0) return rc;
    TRY(levels_judge(o, ret, true, e));
    leave_out_details(ret);
    ret->steps = ret->n;
    return 0;
}
