/* loop.c: tries the ways to find the loop, best evidence first. */
#include "analyze/steps/loop.h"

#include "analyze/names/label.h"
#include "analyze/names/torch_words.h"
#include "analyze/steps/steps_private.h"
#include "base/stats.h"
#include "format/ring.h"

static bool loop_is_step(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && label_kind(trace_name(t, r)) == LABEL_STEP;
}

static uint32_t loop_count_steps(const struct trace *t, const struct lane *l)
{
    uint32_t n = 0;
    if (l->kind != LANE_THREAD) return 0;
    for (row_t r = l->begin; r < l->end; r++) n += loop_is_step(t, r);
    return n;
}

/* ProfilerStep#N on the thread that has most of them. */
static int find_profiler_steps(const struct trace *t, struct arena *mem, struct loop *ret,
                               struct err *e)
{
    uint32_t most = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        uint32_t n = loop_count_steps(t, &t->lanes[l]);
        if (n <= most) continue;
        most = n;
        ret->lane = l;
    }
    if (!most) return 0;
    const struct lane *l = &t->lanes[ret->lane];
    ret->rounds = arena_zalloc(mem, most, sizeof *ret->rounds);
    if (!ret->rounds) return err_nomem(e);
    for (row_t r = l->begin; r < l->end; r++) {
        if (!loop_is_step(t, r)) continue;
        int64_t end = trace_end_ns(t, r);
        struct loop_round *last = ret->n_rounds ? &ret->rounds[ret->n_rounds - 1] : NULL;
        if (last && last->end_ns > t->ts_ns[r]) continue; /* one inside another: seen twice */
        ret->rounds[ret->n_rounds++] = (struct loop_round){t->ts_ns[r], end, end, t->name[r],
                                                           torch_step_number(trace_name(t, r))};
    }
    ret->found = ORIGIN_PROFILER_STEPS;
    ret->period = 1;
    return 0;
}

/* ---- from the outline ---- */

/* Whether every round is one call of the outline. */
static bool are_calls(const struct outline *o, const struct level *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct outline_item *it = &o->items[l->rounds[i].first];
        if (outline_is_leaf(it) || it->end != l->rounds[i].end) return false;
    }
    return true;
}

static int take_levels(const struct context *cx, const struct levels *from, struct loop *to,
                       struct err *e)
{
    for (uint32_t i = 0; i < from->n && to->n_levels < LEVELS_MOST; i++) {
        const struct level *l = &from->list[i];
        struct span *spans = arena_zalloc(cx->mem, (size_t)l->n + 1, sizeof *spans);
        if (!spans) return err_nomem(e);
        for (uint32_t k = 0; k < l->n; k++)
            spans[k] = (struct span){l->rounds[k].begin_ns, l->rounds[k].inner_end_ns};
        to->levels[to->n_levels++] = (struct loop_level){.name = l->name,
                                                         .from = l->from,
                                                         .count = l->n,
                                                         .per_outer = l->per_outer,
                                                         .median_ns = l->median_ns,
                                                         .layers = l->layers,
                                                         .calls = are_calls(outline_of(cx), l),
                                                         .spans = spans};
    }
    return 0;
}

/* Leaves `ret` as it is when nothing repeats convincingly. */
static int find_in_outline(const struct context *cx, struct loop *ret, struct err *e)
{
    const struct outline *o = outline_of(cx);
    struct levels ls;
    TRY(levels_find(o, cx->mem, &ls, e));
    if (ls.steps >= ls.n) return 0;
    const struct level *l = &ls.list[ls.steps];
    ret->rounds = arena_zalloc(cx->mem, l->n, sizeof *ret->rounds);
    if (!ret->rounds) return err_nomem(e);
    for (uint32_t i = 0; i < l->n; i++) {
        const struct level_round *r = &l->rounds[i];
        ret->rounds[i] = (struct loop_round){r->begin_ns, r->end_ns, r->inner_end_ns, STR_NONE, -1};
    }
    ret->found = l->from;
    ret->n_rounds = l->n;
    ret->period = l->period;
    ret->lane = o->lane;
    ret->on_device = o->on_device;
    ret->steps = ls.steps;
    return take_levels(cx, &ls, ret, e);
}

/* ---- what stands around and inside rounds that labels mark ---- */

static bool loop_is_label(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && !trace_is_derived(t, r) &&
           label_kind(trace_name(t, r)) == LABEL_USER;
}

/* The innermost label around a round, or ROW_NONE. */
static row_t label_around(const struct trace *t, lane_id lane, const struct loop_round *r)
{
    row_t at = trace_lower_bound(t, lane, r->begin_ns);
    if (at == t->lanes[lane].end) return ROW_NONE;
    for (at = t->parent[at]; at != ROW_NONE; at = t->parent[at])
        if (loop_is_label(t, at) && t->ts_ns[at] <= r->begin_ns &&
            trace_end_ns(t, at) >= r->inner_end_ns)
            return at;
    return ROW_NONE;
}

/* Adds the calls that the rounds lie in: the labels around them, of one name and more than one
 * round each. */
static int loop_add_calls(const struct trace *t, struct loop *l, struct arena *mem, struct err *e)
{
    row_t last = ROW_NONE;
    uint32_t n = 0;
    int64_t *ns = arena_zalloc(mem, (size_t)l->n_rounds + 1, sizeof *ns);
    int64_t *inside = arena_zalloc(mem, (size_t)l->n_rounds + 1, sizeof *inside);
    if (!ns || !inside) return err_nomem(e);
    for (uint32_t i = 0; i < l->n_rounds; i++) {
        row_t call = label_around(t, l->lane, &l->rounds[i]);
        if (call == ROW_NONE || (last != ROW_NONE && t->name[call] != t->name[last])) return 0;
        if (call != last) ns[n++] = t->dur_ns[call];
        inside[n - 1]++;
        last = call;
    }
    if (n == l->n_rounds) return 0;
    stats_sort(ns, n);
    stats_sort(inside, n);
    l->levels[l->n_levels++] = (struct loop_level){.name = trace_name(t, last),
                                                   .from = ORIGIN_LABELS,
                                                   .count = n,
                                                   .per_outer = n,
                                                   .median_ns = stats_median(ns, n)};
    l->levels[l->n_levels].per_outer = (uint32_t)stats_median(inside, n);
    return 0;
}

static int loop_add_steps(struct loop *l, const struct trace *t, struct arena *mem, struct err *e)
{
    int64_t *ns = arena_zalloc(mem, (size_t)l->n_rounds + 1, sizeof *ns);
    struct span *spans = arena_zalloc(mem, (size_t)l->n_rounds + 1, sizeof *spans);
    if (!ns || !spans) return err_nomem(e);
    for (uint32_t i = 0; i < l->n_rounds; i++) {
        ns[i] = l->rounds[i].end_ns - l->rounds[i].begin_ns;
        spans[i] = (struct span){l->rounds[i].begin_ns, l->rounds[i].inner_end_ns};
    }
    stats_sort(ns, l->n_rounds);
    struct loop_level *s = &l->levels[l->n_levels];
    bool marks = l->found == ORIGIN_PROFILER_STEPS;
    *s = (struct loop_level){.name = marks ? str_c(TORCH_STEP)
                                     : l->rounds[0].name == STR_NONE
                                         ? str_c("")
                                         : trace_str(t, l->rounds[0].name),
                             .from = l->found,
                             .count = l->n_rounds,
                             .per_outer = l->n_levels ? s->per_outer : l->n_rounds,
                             .median_ns = stats_median(ns, l->n_rounds),
                             .spans = spans};
    l->steps = l->n_levels++;
    return 0;
}

static int add_inside(const struct context *cx, struct loop *l, struct err *e)
{
    struct levels ls;
    struct levels_within *in = arena_zalloc(cx->mem, (size_t)l->n_rounds + 1, sizeof *in);
    if (!in) return err_nomem(e);
    if (outline_of(cx)->on_device || outline_of(cx)->lane != l->lane) return 0;
    for (uint32_t i = 0; i < l->n_rounds; i++)
        in[i] = (struct levels_within){l->rounds[i].begin_ns, l->rounds[i].end_ns};
    TRY(levels_find_inside(outline_of(cx), in, l->n_rounds, cx->mem, &ls, e));
    return take_levels(cx, &ls, l, e);
}

/* Rounds that begin with a label which torch wrote by itself lie in functions that say better where
 * they begin: those, when each lies in one of its own. */
static int fit_to_calls(const struct context *cx, struct loop *l, struct err *e)
{
    const struct outline *o = outline_of(cx);
    bool automatic = l->found == ORIGIN_LABELS && l->n_rounds &&
                     label_is_automatic(trace_str(cx->t, l->rounds[0].name));
    if (!automatic || o->lane != l->lane) return 0;
    uint32_t *calls = arena_zalloc(cx->mem, l->n_rounds, sizeof *calls);
    if (!calls) return err_nomem(e);
    for (uint32_t i = 0; i < l->n_rounds; i++) {
        calls[i] = outline_call_around(o, l->rounds[i].begin_ns, l->rounds[i].inner_end_ns);
        if (calls[i] == ITEM_NONE || (i && calls[i] == calls[i - 1])) return 0;
    }
    for (uint32_t i = 0; i < l->n_rounds; i++) {
        const struct outline_item *it = &o->items[calls[i]];
        l->rounds[i].begin_ns = it->begin_ns;
        l->rounds[i].end_ns = l->rounds[i].inner_end_ns = it->end_ns;
        if (i) l->rounds[i - 1].end_ns = it->begin_ns;
    }
    return 0;
}

/* Whether the level inside the steps that were found in the outline is the rounds that were found
 * from labels. */
static bool is_level_inside(const struct loop *outline, const struct loop *labels)
{
    uint32_t i = outline->steps + 1;
    if (outline->n_rounds < 2 || i >= outline->n_levels) return false;
    uint32_t n = outline->levels[i].count, m = labels->n_rounds;
    return outline->levels[i].per_outer >= 3 && (n > m ? n - m : m - n) <= m / 20;
}

/* Labels around the parts of a network, and none around the whole of it: what is labelled are its
 * layers. They have to say so by name, or hold little of what repeats with them. */
static int look_around_labels(const struct context *cx, struct loop *found, struct err *e)
{
    struct loop around = {.lane = LANE_NONE, .process = UINT32_MAX};
    struct str name = found->found == ORIGIN_LABELS && found->n_rounds > 2
                          ? trace_str(cx->t, found->rounds[0].name)
                          : str_c("step");
    if (label_says_round(name) || label_ends_round(name) || label_says_call(name)) return 0;
    if (label_is_automatic(name)) return 0;
    TRY(find_in_outline(cx, &around, e));
    if (!is_level_inside(&around, found)) return 0;
    if (label_says_part(name) || around.levels[around.steps + 1].from != ORIGIN_LABELS)
        *found = around;
    return 0;
}

int loop_whole(const struct context *cx, struct loop *ret, struct err *e)
{
    const struct trace *t = cx->t;
    struct loop l = {.lane = outline_of(cx)->lane, .process = UINT32_MAX};
    l.rounds = arena_zalloc(cx->mem, 1, sizeof *l.rounds);
    if (!l.rounds) return err_nomem(e);
    l.rounds[0] = (struct loop_round){t->begin_ns, t->end_ns, t->end_ns, STR_NONE, -1};
    l.n_rounds = l.period = 1;
    l.found = ORIGIN_OPS;
    if (l.lane != LANE_NONE) l.process = t->lanes[l.lane].process;
    TRY(loop_add_steps(&l, t, cx->mem, e));
    *ret = l;
    return 0;
}

/* By name, how many labels and modules that lie in no other one. */
static uint32_t *count_outermost(const struct trace *t, struct arena *mem)
{
    uint32_t *n = arena_zalloc(mem, (size_t)t->strings.n + 1, sizeof *n);
    for (uint32_t i = 0; n && i < t->n_lanes; i++) {
        int64_t until = INT64_MIN;
        for (row_t r = t->lanes[i].begin; r < t->lanes[i].end; r++) {
            if (t->kind[r] != KIND_ANNOTATION || !t->dur_ns[r] || t->ts_ns[r] < until) continue;
            until = trace_end_ns(t, r);
            n[t->name[r]]++;
        }
    }
    return n;
}

/* How many units there are besides those in depth, of the kind that has most; 0 when no units were
 * recorded in depth. A unit begins with the module or stage that follows its mark. */
static int loop_count_units(const struct trace *t, struct arena *mem, uint32_t *ret)
{
    const struct trace *deep = t->deep;
    uint32_t *n = deep ? count_outermost(t, mem) : NULL, most = 0;
    bool begins = false;
    *ret = 0;
    if (!n) return deep ? ERR_NOMEM : 0;
    for (row_t r = 0; r < deep->n_rows; r++) {
        begins |= deep->phase[r] == 'i' && str_is(trace_name(deep, r), RING_DEPTH_BEGINS);
        if (!begins || deep->kind[r] != KIND_ANNOTATION || !deep->dur_ns[r]) continue;
        begins = false;
        str_id name = intern_find(&t->strings, trace_name(deep, r));
        if (name != STR_NONE && n[name] > most) most = n[name];
    }
    *ret = most;
    return 0;
}

int loop_find(const struct context *cx, struct loop *ret, struct err *e)
{
    const struct trace *t = cx->t;
    const struct loop none = {.lane = LANE_NONE, .process = UINT32_MAX};
    struct loop steps = none, found = none;
    /* Other steps were left out, and one remains: what repeats in it are its parts. */
    if (t->part.judged && t->part.n_calls == 1) return loop_whole(cx, ret, e);
    uint32_t n_units;
    if (loop_count_units(t, cx->mem, &n_units) < 0) return err_nomem(e);
    if (n_units == 1) return loop_whole(cx, ret, e);
    TRY(find_profiler_steps(t, cx->mem, &steps, e));
    /* A single profiler step often holds a whole call with a loop of its own inside. */
    if (steps.n_rounds < 2) TRY(loop_labels_find(t, cx->mem, &found, e));
    if (steps.n_rounds && found.n_rounds < 2) found = steps;
    TRY(fit_to_calls(cx, &found, e));
    TRY(look_around_labels(cx, &found, e));
    if (found.n_levels) {
        /* found in the outline, with all its levels */
    } else if (found.n_rounds) {
        TRY(loop_add_calls(t, &found, cx->mem, e));
        TRY(loop_add_steps(&found, t, cx->mem, e));
        TRY(add_inside(cx, &found, e));
    } else {
        TRY(find_in_outline(cx, &found, e));
    }
    TRY(lead_fit(cx, &found, e));
    found.are_units = n_units && found.n_rounds == n_units;
    if (found.lane != LANE_NONE) found.process = t->lanes[found.lane].process;
    *ret = found;
    return 0;
}
