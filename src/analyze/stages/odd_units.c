/* odd_units.c: see stages_private.h. */
#include "analyze/stages/stages_private.h"

#include <stdlib.h>

#include "analyze/stages/stages_constants.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* "request" of "request took 25 ms, 3.0 times ...". */
static struct str odd_units_named(struct str why)
{
    long at = str_find(why, " took ");
    return str_from(why.p, at < 0 ? 0 : (size_t)at);
}

/* Of two calls that ended before the mark, which one it was taken for: who noticed that it took
 * long did so a moment later, when others may have ended, too. */
static bool odd_units_is_better(const struct stage_call *a, const struct stage_call *b,
                                int64_t at_ns)
{
    bool a_just = at_ns - a->end_ns < odd_step_noticed_ns;
    bool b_just = at_ns - b->end_ns < odd_step_noticed_ns;
    int64_t longer = (a->end_ns - a->begin_ns) - (b->end_ns - b->begin_ns);
    if (a_just && b_just && longer) return longer > 0;
    return a->end_ns > b->end_ns;
}

/* The call that the mark names, and of those around it the outermost; STAGE_NONE for none. What
 * came before a call may be in none of those around it. */
static uint32_t odd_units_call(const struct stage_tree *tree, const struct snapshot_mark *shot)
{
    struct str name = odd_units_named(shot->why);
    uint32_t best = STAGE_NONE;
    for (uint32_t i = 0; name.n && i < tree->n_calls; i++) {
        const struct stage_call *c = &tree->calls[i];
        if (c->end_ns > shot->at_ns || tree->nodes[c->node].backward) continue;
        if (!str_eq(tree->nodes[c->node].name, name)) continue;
        if (best == STAGE_NONE || odd_units_is_better(c, &tree->calls[best], shot->at_ns)) best = i;
    }
    while (!shot->before && best != STAGE_NONE && tree->calls[best].parent != STAGE_NONE)
        best = tree->calls[best].parent;
    return best;
}

static int odd_units_by_time(const void *a, const void *b)
{
    const struct odd_unit *const *x = a, *const *y = b;
    if ((*x)->at.begin_ns != (*y)->at.begin_ns)
        return (*x)->at.begin_ns < (*y)->at.begin_ns ? -1 : 1;
    return ((*x)->lane > (*y)->lane) - ((*x)->lane < (*y)->lane);
}

static int odd_units_number(const struct context *cx, struct odd_units *u)
{
    struct odd_unit **order = arena_alloc(cx->mem, (u->n + (size_t)1) * sizeof *order);
    if (!order) return ERR_NOMEM;
    for (uint32_t i = 0; i < u->n; i++) order[i] = &u->list[i];
    qsort(order, u->n, sizeof *order, odd_units_by_time);
    for (uint32_t i = 0; i < u->n; i++) order[i]->number = i;
    return 0;
}

uint32_t odd_units_at(const struct odd_units *u, lane_id lane, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, u->n,
                u->list[i].lane < lane ||
                    (u->list[i].lane == lane && u->list[i].at.begin_ns <= ts_ns));
    if (!i || u->list[i - 1].lane != lane || u->list[i - 1].at.end_ns <= ts_ns) return UINT32_MAX;
    return i - 1;
}

/* What was launched in a unit. */
struct odd_work {
    uint32_t unit;
    row_t row;
};

static int odd_units_by_unit(const void *a, const void *b)
{
    const struct odd_work *x = a, *y = b;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int odd_units_add_gpu(const struct context *cx, struct odd_units *u, struct odd_work *work,
                             uint32_t n)
{
    row_t *rows = arena_alloc(cx->mem, (n + (size_t)1) * sizeof *rows);
    if (!rows) return ERR_NOMEM;
    if (n) qsort(work, n, sizeof *work, odd_units_by_unit);
    for (uint32_t i = 0; i < n; i++) rows[i] = work[i].row;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && work[end].unit == work[i].unit;) end++;
        u->list[work[i].unit].gpu_ns =
            work_sum_run(cx->t, timeline_of(cx), rows + i, end - i).union_ns;
    }
    return 0;
}

/* What calls on the thread of a unit cost it. */
static int odd_units_add_up(const struct context *cx, struct odd_units *u)
{
    const struct trace *t = cx->t;
    struct odd_work *work = NULL;
    size_t n = 0, cap = 0;
    int rc = 0;
    for (row_t r = 0; rc == 0 && r < t->n_rows; r++) {
        enum call_kind kind = calls_kind(calls_of(cx), t, r);
        uint32_t at = trace_call(t, r) ? odd_units_at(u, t->lane[r], t->ts_ns[r]) : UINT32_MAX;
        uint32_t n_work;
        if (at == UINT32_MAX || t->flags[r] & ROW_PROFILER) continue;
        struct odd_unit *x = &u->list[at];
        x->launches += call_launches(kind);
        x->syncs += call_waits(kind);
        if (call_waits(kind)) x->blocked_ns += t->dur_ns[r];
        const row_t *rows = trace_launched(t, r, &n_work);
        if (VEC_RESERVE(work, n, cap, n_work)) rc = ERR_NOMEM;
        for (uint32_t i = 0; rc == 0 && i < n_work; i++)
            if (timeline_has(t, rows[i])) work[n++] = (struct odd_work){at, rows[i]};
    }
    if (rc == 0) rc = odd_units_add_gpu(cx, u, work, (uint32_t)n);
    mem_free(work);
    return rc;
}

/* What came before a call belongs to it: each begins when the one before on its thread has ended.
 */
static void odd_units_go_back(struct odd_units *u)
{
    u->before = true;
    for (uint32_t i = u->n; i-- > 1;) {
        const struct odd_unit *last = &u->list[i - 1];
        if (last->lane == u->list[i].lane && last->at.end_ns < u->list[i].at.begin_ns)
            u->list[i].at.begin_ns = last->at.end_ns;
    }
}

/* Calls of the stage of `call`. The tree has them by thread and time. */
static int odd_units_take_calls(const struct context *cx, uint32_t call,
                                const struct snapshot_mark *shot, struct odd_units *ret)
{
    const struct stage_tree *tree = &stages_of(cx)->tree;
    uint32_t node = tree->calls[call].node;
    struct odd_units u = {.name = tree->nodes[node].name};
    u.list = arena_zalloc(cx->mem, (size_t)tree->n_calls + 1, sizeof *u.list);
    if (!u.list) return ERR_NOMEM;
    for (lane_id l = 0; l < cx->t->n_lanes; l++)
        for (uint32_t i = tree->first_call[l]; i < tree->first_call[l + 1]; i++) {
            const struct stage_call *c = &tree->calls[i];
            if (i == call) u.odd = u.n;
            if (c->node == node)
                u.list[u.n++] = (struct odd_unit){.at = {c->begin_ns, c->end_ns}, .lane = l};
        }
    if (u.n < (uint32_t)odd_step_steps) return 0;
    if (shot->before) odd_units_go_back(&u);
    *ret = u;
    return odd_units_add_up(cx, ret);
}

/* The step that ended just before, or is the longer of the last two by then. */
static uint32_t odd_units_step(const struct steps *s, int64_t at_ns)
{
    uint32_t n = 0;
    while (n < s->n_steps && s->steps[n].cpu.begin_ns <= at_ns) n++;
    if (n < 2) return n ? 0 : UINT32_MAX;
    return span_ns(s->steps[n - 2].cpu) > span_ns(s->steps[n - 1].cpu) ? n - 2 : n - 1;
}

static int odd_units_take_steps(const struct context *cx, const struct snapshot_mark *shot,
                                struct odd_units *ret)
{
    const struct steps *s = steps_of(cx);
    uint32_t odd = odd_units_step(s, shot->at_ns);
    if (s->n_steps < (uint32_t)odd_step_steps || odd == UINT32_MAX) return 0;
    *ret = (struct odd_units){.odd = odd, .name = str_c("step")};
    ret->list = arena_alloc(cx->mem, s->n_steps * sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    for (; ret->n < s->n_steps; ret->n++) {
        const struct step *x = &s->steps[ret->n];
        ret->list[ret->n] = (struct odd_unit){.at = x->cpu,
                                              .lane = s->lane,
                                              .blocked_ns = x->blocked_ns,
                                              .gpu_ns = x->gpu.union_ns,
                                              .launches = x->launches,
                                              .syncs = x->syncs};
    }
    return 0;
}

int odd_units_find(const struct context *cx, const struct snapshot_mark *shot,
                   struct odd_units *ret)
{
    uint32_t call = odd_units_call(&stages_of(cx)->tree, shot);
    *ret = (struct odd_units){0};
    if (shot->at_ns > cx->t->end_ns) return 0; /* that part is lost */
    if (call != STAGE_NONE) TRY(odd_units_take_calls(cx, call, shot, ret));
    if (!ret->n) TRY(odd_units_take_steps(cx, shot, ret));
    return ret->n ? odd_units_number(cx, ret) : 0;
}
