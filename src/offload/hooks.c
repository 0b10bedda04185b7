/* hooks.c: see trial.h. Stretches of items that only serve the moving of weights are the hooks. */
#include "offload/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"

/* An operator seen less often than this, away from loads, has no usual duration. */
#define LEAST_SEEN 8

struct finder {
    struct items_source src;
    const struct trace *t;
    const struct streamed *s;
    struct arena *mem;
    struct item *items; /* of the thread being examined */
    uint32_t n_items;
    struct hook *found; /* growing, on the heap */
    size_t n_found, cap_found;
    int64_t gap_ns;
};

/* ---- the usual gap, the usual duration ---- */

static bool hooks_adjacent(const struct finder *f, uint32_t i)
{
    return i > 0 && f->items[i - 1].step == f->items[i].step;
}

static bool follows_compute(const struct finder *f, uint32_t i)
{
    return hooks_adjacent(f, i) && f->items[i - 1].kind == ITEM_COMPUTE;
}

/* The mean, because gaps are added up; without the longest ones, in which something else happened.
 */
static int64_t usual_gap(int64_t *gaps, uint32_t n)
{
    uint32_t kept = n - n / 20;
    int64_t sum = 0;
    stats_sort(gaps, n);
    for (uint32_t i = 0; i < kept; i++) sum += gaps[i];
    return kept ? sum / kept : 0;
}

static int measure_gap(struct finder *f)
{
    struct arena_mark mark = arena_mark(f->mem);
    int64_t *gaps = arena_alloc(f->mem, (f->n_items + (size_t)1) * sizeof *gaps);
    uint32_t n = 0;
    if (!gaps) return ERR_NOMEM;
    for (uint32_t i = 1; i < f->n_items; i++)
        if (f->items[i].kind == ITEM_COMPUTE && follows_compute(f, i))
            gaps[n++] = f->items[i].begin_ns - f->items[i - 1].end_ns;
    f->gap_ns = usual_gap(gaps, n);
    arena_reset_to(f->mem, mark);
    return 0;
}

static int64_t hooks_own_ns(const struct item *it)
{
    return it->end_ns - it->begin_ns - it->alloc_ns;
}

struct sample {
    str_id name;
    bool cold; /* the first of its name after a large load */
    int64_t ns;
};

static int hooks_by_name(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (x->cold != y->cold) return x->cold ? 1 : -1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Operators of the thread; caches hold the code of one that ran since the last large load. */
static uint32_t hooks_take_samples(const struct finder *f, uint32_t *seen, struct sample *ret)
{
    uint32_t n = 0, big = STREAMED_NONE;
    for (uint32_t i = 0; i < f->n_items; i++) {
        const struct item *it = &f->items[i];
        if (it->load == STREAMED_NONE || it->kind != ITEM_COMPUTE) continue;
        if (f->s->loads[it->load].bytes >= HOOKS_BIG_BYTES) big = it->load;
        str_id name = f->t->name[it->row];
        ret[n++] =
            (struct sample){name, big != STREAMED_NONE && seen[name] != big + 1, hooks_own_ns(it)};
        seen[name] = big == STREAMED_NONE ? 0 : big + 1;
    }
    return n;
}

/* Durations by name: the median of the warm ones; where there are none, the negative median of
 * all. */
static void hooks_set_usual(const struct sample *s, uint32_t n, int64_t *usual)
{
    for (uint32_t i = 0, next; i < n; i = next) {
        uint32_t warm = 0;
        for (next = i; next < n && s[next].name == s[i].name; next++) warm += !s[next].cold;
        usual[s[i].name] = warm >= LEAST_SEEN ? s[i + warm / 2].ns : -s[i + (next - i) / 2].ns;
    }
}

static int measure_usual(const struct finder *f, int64_t *usual)
{
    struct arena_mark mark = arena_mark(f->mem);
    struct sample *samples = arena_alloc(f->mem, (f->n_items + (size_t)1) * sizeof *samples);
    uint32_t *seen = arena_zalloc(f->mem, f->t->strings.n + (size_t)1, sizeof *seen);
    if (!samples || !seen) return ERR_NOMEM;
    uint32_t n = hooks_take_samples(f, seen, samples);
    if (n) qsort(samples, n, sizeof *samples, hooks_by_name);
    memset(usual, 0, f->t->strings.n * sizeof *usual);
    hooks_set_usual(samples, n, usual);
    arena_reset_to(f->mem, mark);
    return 0;
}

/* ---- what goes with a load ---- */

static int hooks_add(struct finder *f, uint32_t load, int64_t begin_ns, int64_t end_ns, double keep)
{
    if (load == STREAMED_NONE || end_ns <= begin_ns) return 0;
    if (VEC_RESERVE(f->found, f->n_found, f->cap_found, 1)) return ERR_NOMEM;
    f->found[f->n_found++] = (struct hook){load, begin_ns, end_ns, keep};
    return 0;
}

/* The load whose bytes are copied back, or the last one. */
static uint32_t hooks_owner(const struct finder *f, const struct item *first,
                            const struct item *end)
{
    int64_t down = 0;
    for (const struct item *it = first; it < end; it++) down += it->down_bytes;
    for (uint32_t i = first->load; down && i != STREAMED_NONE; i--) {
        const struct streamed_load *l = &f->s->loads[i];
        if (l->step != first->step) break;
        if (l->lane == f->s->loads[first->load].lane && l->bytes == down) return i;
        if (i == 0) break;
    }
    return first->load;
}

/* A stretch with no load in it puts the module away that ran before. */
static int add_after(struct finder *f, uint32_t first, uint32_t end, int64_t from, int64_t to)
{
    bool sure = false;
    for (uint32_t i = first; i < end; i++) sure |= f->items[i].sure;
    if (!sure) return 0;
    return hooks_add(f, hooks_owner(f, &f->items[first], &f->items[end]), from, to, 0);
}

/* In front of the first load of a stretch stand the end of the last module's hooks, if anything is
 * recorded there, and the begin of its own. */
static int add_before(struct finder *f, uint32_t first, uint32_t load_item, int64_t from)
{
    uint32_t load = f->items[load_item].load;
    int64_t begin = f->s->loads[load].begin_ns;
    uint32_t last = f->items[first].kind == ITEM_LOAD ? STREAMED_NONE : f->items[first].load;
    int64_t middle = last == STREAMED_NONE ? from : from + (begin - from) / 2;
    TRY(hooks_add(f, last, from, middle, 0));
    return hooks_add(f, load, middle, begin, 0);
}

static int hooks_add_stretch(struct finder *f, uint32_t first, uint32_t end)
{
    const struct item *it = f->items;
    int64_t from = follows_compute(f, first) ? it[first - 1].end_ns : it[first].begin_ns;
    bool goes_on = end < f->n_items && hooks_adjacent(f, end) && it[end].kind == ITEM_COMPUTE;
    int64_t to = goes_on ? it[end].begin_ns - f->gap_ns : it[end - 1].end_ns;
    if (to < it[end - 1].end_ns) to = it[end - 1].end_ns;
    uint32_t i = first;
    while (i < end && it[i].kind != ITEM_LOAD) i++;
    if (i == end) return add_after(f, first, end, from, to);
    TRY(add_before(f, first, i, from));
    for (uint32_t load = it[i].load; i < end; i++) {
        if (it[i].kind != ITEM_LOAD || it[i].load == load) continue;
        TRY(hooks_add(f, it[i].load, f->s->loads[load].end_ns, f->s->loads[it[i].load].begin_ns,
                      0));
        load = it[i].load;
    }
    return hooks_add(f, it[end - 1].load, f->s->loads[it[end - 1].load].end_ns, to, 0);
}

static bool hooks_serves(const struct item *it)
{
    return it->kind == ITEM_SERVICE || it->kind == ITEM_LOAD;
}

static int add_stretches(struct finder *f)
{
    for (uint32_t i = 0, end; i < f->n_items; i = end) {
        end = i + 1;
        if (!hooks_serves(&f->items[i])) continue;
        while (end < f->n_items && hooks_serves(&f->items[end]) && hooks_adjacent(f, end)) end++;
        TRY(hooks_add_stretch(f, i, end));
    }
    return 0;
}

/* ---- what is faster without a load ---- */

/* Share of its time that the operator takes with warm caches. */
static double cache_warm_share(const struct finder *f, const struct item *it, int64_t usual)
{
    double ns = (double)hooks_own_ns(it), least = 1 / HOOKS_COLD;
    bool pageable = f->s->loads[it->load].pageable;
    double warm = usual > 0 ? (double)usual : pageable ? -(double)usual / HOOKS_COLD : ns;
    if (ns <= 0 || warm >= ns) return 1;
    return warm / ns > least ? warm / ns : least;
}

/* Memory that the operator takes from the driver because the cache was emptied. */
static int add_allocations(struct finder *f, const struct item *it)
{
    const struct trace *t = f->t;
    const struct lane *lane = &t->lanes[t->lane[it->row]];
    for (row_t r = it->row; r < lane->end && t->ts_ns[r] < it->end_ns; r++)
        if (call_allocates(calls_kind(calls_of(f->src.cx), t, r)))
            TRY(hooks_add(f, it->load, t->ts_ns[r], trace_end_ns(t, r), 0));
    return 0;
}

static int add_paces(struct finder *f, const int64_t *usual)
{
    uint32_t emptied = STREAMED_NONE; /* the last load around which memory went back */
    for (uint32_t i = 0; i < f->n_items; i++) {
        const struct item *it = &f->items[i];
        if (it->frees) emptied = it->load;
        if (it->kind != ITEM_COMPUTE || it->load == STREAMED_NONE) continue;
        int64_t from = follows_compute(f, i) ? it[-1].end_ns : it->begin_ns;
        double keep = cache_warm_share(f, it, usual[f->t->name[it->row]]);
        if (keep < 1) TRY(hooks_add(f, it->load, from, it->end_ns, keep));
        if (it->alloc_ns && emptied != STREAMED_NONE) TRY(add_allocations(f, it));
    }
    return 0;
}

/* ---- all threads ---- */

static int look_at_thread(struct finder *f, lane_id lane, int64_t *usual)
{
    f->n_items = items_read(&f->src, lane, f->items);
    TRY(measure_gap(f));
    TRY(measure_usual(f, usual));
    TRY(add_stretches(f));
    return add_paces(f, usual);
}

static int look_at_threads(struct finder *f)
{
    const struct trace *t = f->t;
    size_t most = 0;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        bool loads = items_next_load(f->s, 0, l) < f->s->n_loads;
        size_t n = loads ? items_read(&f->src, l, NULL) : 0;
        if (n > most) most = n;
    }
    int64_t *usual = arena_alloc(f->mem, (t->strings.n + (size_t)1) * sizeof *usual);
    f->items = arena_alloc(f->mem, (most + 1) * sizeof *f->items);
    if (!usual || !f->items) return ERR_NOMEM;
    for (lane_id l = 0; l < t->n_lanes; l++)
        if (items_next_load(f->s, 0, l) < f->s->n_loads) TRY(look_at_thread(f, l, usual));
    return 0;
}

static int by_load(const void *a, const void *b)
{
    const struct hook *x = a, *y = b;
    if (x->load != y->load) return x->load < y->load ? -1 : 1;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

int hooks_run(const struct trace *t, const struct context *cx, const struct streamed *s,
              struct arena *mem, struct hooks *ret)
{
    struct finder f = {.src = {t, cx, s}, .t = t, .s = s, .mem = mem};
    struct arena_mark mark = arena_mark(mem);
    int rc = look_at_threads(&f);
    arena_reset_to(mem, mark);
    *ret = (struct hooks){.n = (uint32_t)f.n_found, .gap_ns = f.gap_ns};
    if (rc == 0 && f.n_found) {
        qsort(f.found, f.n_found, sizeof *f.found, by_load);
        ret->all = arena_alloc(mem, f.n_found * sizeof *f.found);
        if (ret->all) memcpy(ret->all, f.found, f.n_found * sizeof *f.found);
        else rc = ERR_NOMEM;
    }
    mem_free(f.found);
    return rc;
}
