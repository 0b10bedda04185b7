/* rests.c: see rests.h. */
#include "analyze/rests.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/focus_constants.h"
#include "analyze/names/label.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/stats.h"
#include "format/ring.h"
#include "trace/cut.h"

struct rests {
    const struct trace *t;
    struct arena *mem;
    struct label_groups groups;
    struct map whole;         /* groups that were recorded whole, numbered */
    struct span_set off, out; /* the rests; the same, with the units that they cut */
    uint32_t cap_out;
    str_id unit; /* a name of it, or STR_NONE */
};

/* Units whose names differ only in a number are one. */
static uint64_t rests_group(const struct rests *k, row_t r)
{
    return (uint64_t)(uintptr_t)label_groups_name(&k->groups, k->t->name[r]).p;
}

static int rests_add(struct rests *k, struct span_set *s, struct span span)
{
    if (s->n == k->cap_out) return ERR_NOMEM;
    s->list[s->n++] = span;
    return 0;
}

/* The marks of one process follow each other; the recording may begin and end in a rest. */
static int rests_find_of(struct rests *k, uint32_t process)
{
    const struct trace *t = k->t;
    int64_t from = 0;
    bool resting = false;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->phase[r] != 'i' || t->lanes[t->lane[r]].process != process) continue;
        bool rests = str_is(trace_name(t, r), RING_RESTS);
        if (!rests && !str_is(trace_name(t, r), RING_AWAKE)) continue;
        if (!rests)
            TRY(rests_add(k, &k->off, (struct span){resting ? from : t->begin_ns, t->ts_ns[r]}));
        resting = rests;
        from = t->ts_ns[r];
    }
    return resting ? rests_add(k, &k->off, (struct span){from, t->end_ns + 1}) : 0;
}

static uint32_t rests_count_marks(const struct trace *t)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->phase[r] == 'i' && str_is(trace_name(t, r), RING_RESTS)) n++;
    for (row_t r = 0; r < t->n_rows && !n; r++)
        if (t->phase[r] == 'i' && str_is(trace_name(t, r), RING_AWAKE)) n++;
    return n;
}

static int rests_room(struct rests *k, struct span_set *s, uint32_t n)
{
    s->list = arena_alloc(k->mem, ((size_t)n + 1) * sizeof *s->list);
    s->before_ns = arena_alloc(k->mem, ((size_t)n + 2) * sizeof *s->before_ns);
    k->cap_out = n + 1;
    return s->list && s->before_ns ? 0 : ERR_NOMEM;
}

static int rests_find(struct rests *k)
{
    uint32_t n = rests_count_marks(k->t);
    if (!n) return 0;
    TRY(rests_room(k, &k->off, n + k->t->n_processes));
    for (uint32_t i = 0; i < k->t->n_processes; i++) TRY(rests_find_of(k, i));
    span_set_settle(&k->off);
    return 0;
}

static bool rests_is_label(const struct rests *k, row_t r)
{
    return k->t->kind[r] == KIND_ANNOTATION && k->t->phase[r] == 'X';
}

static int64_t rests_in(const struct rests *k, row_t r)
{
    return span_set_ns(&k->off, trace_span(k->t, r));
}

/* Names of labels that were recorded from begin to end at least once. Others are around the whole
 * loop. */
static int rests_find_whole(struct rests *k)
{
    uint32_t n = 0;
    for (row_t r = 0; r < k->t->n_rows; r++) {
        if (!rests_is_label(k, r) || rests_in(k, r)) continue;
        uint32_t *i = map_at(&k->whole, rests_group(k, r));
        if (!i) return ERR_NOMEM;
        if (*i == MAP_NONE) *i = n++;
    }
    return 0;
}

/* The one of them that most of the run was spent in. */
static int rests_choose_unit(struct rests *k)
{
    int64_t most = 0, *ns = arena_zalloc(k->mem, k->whole.n + 1, sizeof *ns);
    if (!ns) return ERR_NOMEM;
    for (row_t r = 0; r < k->t->n_rows; r++) {
        uint32_t i = rests_is_label(k, r) ? map_find(&k->whole, rests_group(k, r)) : MAP_NONE;
        if (i == MAP_NONE || (ns[i] += k->t->dur_ns[r]) <= most) continue;
        most = ns[i];
        k->unit = k->t->name[r];
    }
    return 0;
}

static bool rests_cuts_unit(const struct rests *k, row_t r)
{
    return rests_is_label(k, r) && rests_in(k, r) &&
           map_find(&k->whole, rests_group(k, r)) != MAP_NONE;
}

/* The rests, and every unit that one of them cuts. */
static int rests_widen(struct rests *k)
{
    uint32_t n = k->off.n;
    for (row_t r = 0; r < k->t->n_rows; r++) n += rests_cuts_unit(k, r);
    TRY(rests_room(k, &k->out, n));
    for (uint32_t i = 0; i < k->off.n; i++) TRY(rests_add(k, &k->out, k->off.list[i]));
    for (row_t r = 0; r < k->t->n_rows; r++)
        if (rests_cuts_unit(k, r)) TRY(rests_add(k, &k->out, trace_span(k->t, r)));
    span_set_settle(&k->out);
    return 0;
}

/* From one unit to the next on the thread that has most of them: with what is between them. */
struct rest_periods {
    struct span *list;
    uint32_t n;
};

static int rests_periods(const struct rests *k, struct rest_periods *ret)
{
    const struct trace *t = k->t;
    uint64_t group = (uint64_t)(uintptr_t)label_groups_name(&k->groups, k->unit).p;
    uint32_t *n = arena_zalloc(k->mem, t->n_lanes + 1, sizeof *n), most = 0, first = 1;
    if (!n) return ERR_NOMEM;
    for (row_t r = 0; r < t->n_rows; r++)
        if (rests_is_label(k, r) && rests_group(k, r) == group && ++n[t->lane[r]] > n[most])
            most = t->lane[r];
    if (!(ret->list = arena_alloc(k->mem, ((size_t)n[most] + 1) * sizeof *ret->list)))
        return ERR_NOMEM;
    int64_t before = 0;
    for (row_t r = t->lanes[most].begin; r < t->lanes[most].end; r++) {
        if (!rests_is_label(k, r) || rests_group(k, r) != group) continue;
        if (!first) ret->list[ret->n++] = (struct span){before, t->ts_ns[r]};
        before = t->ts_ns[r];
        first = 0;
    }
    return 0;
}

enum where { RECORDED, RESTED, ALL };

/* Their median, from number `from` on; 0 without any. */
static int rests_median(const struct rests *k, const struct rest_periods *p, uint32_t from,
                        enum where where, int64_t *ret_ns)
{
    uint32_t n = 0;
    int64_t *ns = arena_alloc(k->mem, ((size_t)p->n + 1) * sizeof *ns);
    *ret_ns = 0;
    if (!ns) return ERR_NOMEM;
    for (uint32_t i = from; i < p->n; i++) {
        int64_t off = span_set_ns(&k->off, p->list[i]), all = span_ns(p->list[i]);
        if (where == ALL || (where == RECORDED ? !off : off == all)) ns[n++] = all;
    }
    stats_sort(ns, n);
    if (n) *ret_ns = stats_median(ns, n);
    return 0;
}

/* Cold ones at the start are not counted. */
static int rests_look_throughout(const struct rests *k, struct trace_rests *ret)
{
    struct rest_periods p = {0};
    int64_t usual = 0;
    ret->unit = k->unit;
    if (k->unit == STR_NONE) return 0;
    TRY(rests_periods(k, &p));
    TRY(rests_median(k, &p, 0, ALL, &usual));
    uint32_t i = 0;
    while (i < p.n && (double)span_ns(p.list[i]) > rests_slow_times * (double)usual) i++;
    TRY(rests_median(k, &p, i, RECORDED, &ret->usual_ns));
    TRY(rests_median(k, &p, i, RESTED, &ret->rest_usual_ns));
    for (; i < p.n; i++) {
        int64_t ns = span_ns(p.list[i]);
        ret->n_units++;
        ret->units_ns += ns;
        if ((double)ns <= rests_slow_times * (double)usual) continue;
        ret->n_slow++;
        ret->slow_ns += ns - usual;
    }
    return 0;
}

/* Each recorded part is what lies before a rest, and what lies behind the last. */
static void rests_count(const struct rests *k, struct trace_rests *ret)
{
    struct span all = {k->t->begin_ns, k->t->end_ns};
    int64_t from = all.begin_ns;
    ret->run_ns = span_ns(all);
    ret->recorded_ns = ret->run_ns - span_set_ns(&k->off, all);
    for (uint32_t i = 0; i < k->off.n; i++) {
        ret->n_parts += k->off.list[i].begin_ns > from;
        from = k->off.list[i].end_ns;
    }
    ret->n_parts += from < all.end_ns;
}

static int rests_do_cut(struct rests *k, struct trace **t, struct err *e)
{
    struct trace_rests found = {.unit = STR_NONE};
    TRY(label_groups_init(&k->groups, *t, k->mem, e));
    TRY(rests_find(k));
    if (!k->off.n) return 0;
    TRY(rests_find_whole(k));
    TRY(rests_choose_unit(k));
    TRY(rests_widen(k));
    rests_count(k, &found);
    TRY(rests_look_throughout(k, &found));
    TRY(trace_splice(t, &k->out, e));
    (*t)->part.rests = found;
    return 0;
}

int rests_cut(struct trace **t, struct err *e)
{
    struct arena mem;
    struct rests k = {.t = *t, .mem = &mem, .unit = STR_NONE};
    if (!trace_timeline_is_ours(*t) || (*t)->part.rests.n_parts || !rests_count_marks(*t)) return 0;
    arena_init(&mem);
    map_init(&k.whole);
    int rc = rests_do_cut(&k, t, e);
    map_done(&k.whole);
    arena_done(&mem);
    return err_grow(e, rc);
}
