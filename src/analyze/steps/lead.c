/* lead.c: what the CPU does before the first launch of a round.
 *
 *     stft  log  to | launches      stft  log  to | launches
 *     <--- lead ---> <- found ->    <--- lead ---> <- found ->
 *
 * Rounds that were found from a sequence of launches begin with a launch. If the same operators
 * precede every round, the rounds begin with those: else the time of each stands at the end of the
 * round before, and that of the first in no round. */
#include "analyze/steps/loop.h"
#include "analyze/steps/steps_private.h"
#include "base/search.h"
#include "base/stats.h"

/* Operators of the loop's thread that are in no other operator, in order. */
struct lead_ops {
    row_t *list;
    uint32_t n;
};

static int lead_find_ops(const struct trace *t, lane_id lane, struct arena *mem,
                         struct lead_ops *ret)
{
    const struct lane *l = &t->lanes[lane];
    int64_t until = INT64_MIN;
    ret->list = arena_alloc(mem, (size_t)(l->end - l->begin + 1) * sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    for (row_t r = l->begin; r < l->end; r++) {
        if (t->kind[r] != KIND_OP || t->ts_ns[r] < until) continue;
        until = trace_end_ns(t, r);
        ret->list[ret->n++] = r;
    }
    return 0;
}

static uint32_t lead_first_at(const struct trace *t, const struct lead_ops *o, int64_t ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, o->n, t->ts_ns[o->list[i]] < ns);
    return i;
}

/* How many operators right before round `i` lie after the last launch of the round before it, and
 * are those that precede round 0, of which there are `most`. */
static uint32_t lead_length(const struct trace *t, const struct lead_ops *o, const struct loop *l,
                            uint32_t i, uint32_t most)
{
    uint32_t first = lead_first_at(t, o, l->rounds[0].begin_ns);
    uint32_t at = lead_first_at(t, o, l->rounds[i].begin_ns);
    uint32_t from = i ? lead_first_at(t, o, l->rounds[i - 1].inner_end_ns) : 0;
    uint32_t n = 0;
    while (n < most && n < first && at > from + n &&
           t->name[o->list[at - n - 1]] == t->name[o->list[first - n - 1]])
        n++;
    return n;
}

static int lead_move(const struct trace *t, const struct lead_ops *o, struct loop *l,
                     uint32_t length, struct arena *mem)
{
    struct loop_level *level = &l->levels[l->steps];
    int64_t *ns = arena_alloc(mem, l->n_rounds * sizeof *ns);
    if (!ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < l->n_rounds; i++) {
        struct loop_round *r = &l->rounds[i];
        r->begin_ns = t->ts_ns[o->list[lead_first_at(t, o, r->begin_ns) - length]];
        if (i) l->rounds[i - 1].end_ns = r->begin_ns;
        if (level->spans) level->spans[i].begin_ns = r->begin_ns;
    }
    for (uint32_t i = 0; i < l->n_rounds; i++) ns[i] = l->rounds[i].end_ns - l->rounds[i].begin_ns;
    stats_sort(ns, l->n_rounds);
    level->median_ns = stats_median(ns, l->n_rounds);
    return 0;
}

int lead_fit(const struct context *cx, struct loop *l, struct err *e)
{
    struct lead_ops ops = {0};
    if (l->on_device || l->lane == LANE_NONE || l->n_rounds < 2) return 0;
    if (l->found != ORIGIN_OPS && l->found != ORIGIN_KERNELS) return 0;
    if (lead_find_ops(cx->t, l->lane, cx->mem, &ops) < 0) return err_nomem(e);
    uint32_t length = UINT32_MAX;
    for (uint32_t i = 0; i < l->n_rounds && length; i++)
        length = lead_length(cx->t, &ops, l, i, length);
    if (!length) return 0;
    return lead_move(cx->t, &ops, l, length, cx->mem) < 0 ? err_nomem(e) : 0;
}
