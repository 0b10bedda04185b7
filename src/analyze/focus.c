/* focus.c: see focus.h. */
#include "analyze/focus.h"

#include <stdlib.h>

#include "analyze/focus_constants.h"
#include "analyze/names/label.h"
#include "analyze/quality/coverage.h"
#include "analyze/rests.h"
#include "analyze/stages/stage_tree.h"
#include "analyze/steps/steps.h"
#include "base/search.h"
#include "base/stats.h"
#include "trace/cut.h"
#include "trace/snapshot_mark.h"

#define MOST_TRIES 3 /* to find the last of them */

/* A call of an outermost stage, or a round of the loop. */
struct piece {
    int64_t begin_ns, end_ns;
};

struct pieces {
    struct piece *list; /* by begin */
    uint32_t n, n_cold;
    bool uncounted; /* of several stages: their number says nothing */
    bool open_end;  /* the last one ends with its last launch, not where another one begins */
};

/* Of an outermost stage. */
struct outer {
    int64_t work_ns; /* of devices, launched in its calls */
    bool has_stages; /* inside */
    bool is_part;    /* it has no name, and is not a whole call: a module, backward */
};

struct looking {
    const struct trace *t;
    struct arena *mem;
    struct context cx;
    struct stage_tree tree;
    struct outer *outer; /* by node */
    struct coverage coverage;
    int64_t work_ns;  /* of all devices */
    bool no_device;   /* then operators are the work */
    int64_t *deep_ns; /* where units in depth ended, ascending */
    uint32_t n_deep;
    int64_t first_stage_ns; /* when the first call of any stage begins */
};

static uint32_t focus_outermost(const struct stage_tree *s, uint32_t call)
{
    while (call != STAGE_NONE && s->calls[call].parent != STAGE_NONE) call = s->calls[call].parent;
    return call;
}

/* Without a device, filling the weights of a model can take longer than everything that it does
 * afterwards. Modules, steps of optimizers and batches are stages, labelled or derived: what lies
 * before the first of them is start-up. */
static int64_t focus_first_stage(const struct stage_tree *s)
{
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < s->n_calls; i++)
        if (s->calls[i].begin_ns < first) first = s->calls[i].begin_ns;
    return s->n_calls ? first : INT64_MIN;
}

/* Work of a device; without one, an operator that lies in no other one, after the start-up. */
static bool focus_is_work(const struct looking *k, row_t r)
{
    const struct trace *t = k->t;
    if (!k->no_device) return timeline_has(t, r);
    if (t->kind[r] != KIND_OP || t->phase[r] != 'X' || t->ts_ns[r] < k->first_stage_ns)
        return false;
    for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up])
        if (t->kind[up] == KIND_OP) return false;
    return true;
}

static void add_up_work(struct looking *k)
{
    const struct trace *t = k->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!focus_is_work(k, r)) continue;
        k->work_ns += t->dur_ns[r];
        row_t launch = k->no_device ? r : trace_launch_of(t, r);
        uint32_t call = launch == ROW_NONE ? STAGE_NONE : k->tree.owner[launch];
        call = focus_outermost(&k->tree, call);
        if (call != STAGE_NONE) k->outer[k->tree.calls[call].node].work_ns += t->dur_ns[r];
    }
    for (uint32_t i = 0; i < k->tree.n_nodes; i++)
        if (k->tree.nodes[i].parent != STAGE_NONE)
            k->outer[k->tree.nodes[i].parent].has_stages = true;
    for (uint32_t i = 0; i < k->tree.n_calls; i++) {
        row_t r = k->tree.calls[i].row;
        if (trace_is_derived(t, r) && !label_says_call(trace_name(t, r)))
            k->outer[k->tree.calls[i].node].is_part = true;
    }
}

static bool focus_holds_most(const struct looking *k, int64_t work_ns)
{
    return work_ns > 0 && (double)work_ns >= focus_work_share * (double)k->work_ns;
}

/* What the outermost stages are to the program, together. */
struct weights {
    uint32_t busiest; /* node with the most device work, or STAGE_NONE */
    uint32_t n;       /* how many have any */
    int64_t work_ns;  /* of all of them */
};

static struct weights weigh_stages(const struct looking *k)
{
    struct weights o = {.busiest = STAGE_NONE};
    for (uint32_t i = 0; i < k->tree.n_nodes; i++) {
        if (k->tree.nodes[i].parent != STAGE_NONE || k->outer[i].work_ns <= 0) continue;
        if (k->outer[i].is_part) continue;
        o.n++;
        o.work_ns += k->outer[i].work_ns;
        if (o.busiest == STAGE_NONE || k->outer[i].work_ns > k->outer[o.busiest].work_ns)
            o.busiest = i;
    }
    return o;
}

static str_id focus_name_of(const struct looking *k, uint32_t node)
{
    for (uint32_t i = 0; i < k->tree.n_calls; i++)
        if (k->tree.calls[i].node == node) return k->t->name[k->tree.calls[i].row];
    return STR_NONE;
}

static int focus_by_begin(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Calls of `node`; of every outermost stage with work when it is STAGE_NONE. */
static int focus_take_calls(struct looking *k, uint32_t node, struct pieces *ret)
{
    ret->list = arena_alloc(k->mem, k->tree.n_calls * sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    for (uint32_t i = 0; i < k->tree.n_calls; i++) {
        const struct stage_call *c = &k->tree.calls[i];
        if (c->parent != STAGE_NONE || k->tree.nodes[c->node].backward) continue;
        const struct outer *o = &k->outer[c->node];
        if (node == STAGE_NONE ? o->work_ns <= 0 || o->is_part : c->node != node) continue;
        ret->list[ret->n++] = (struct piece){c->begin_ns, c->end_ns};
    }
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, focus_by_begin);
    return 0;
}

/* Work in the rounds of the loop. */
static int64_t focus_work_in_rounds(const struct looking *k)
{
    const struct steps *s = steps_of(&k->cx);
    int64_t work = 0;
    for (uint32_t i = 0; !k->no_device && i < s->n_steps; i++) work += s->steps[i].gpu.sum_ns;
    for (row_t r = 0; k->no_device && r < k->t->n_rows; r++)
        if (focus_is_work(k, r) && steps_at(s, k->t->ts_ns[r]) != UINT32_MAX)
            work += k->t->dur_ns[r];
    return work;
}

static int focus_take_rounds(struct looking *k, struct pieces *ret)
{
    const struct steps *s = steps_of(&k->cx);
    int64_t work = focus_work_in_rounds(k);
    if (s->n_steps < focus_rounds || !focus_holds_most(k, work)) return 0;
    ret->list = arena_alloc(k->mem, s->n_steps * sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_steps; i++)
        ret->list[ret->n++] = (struct piece){s->steps[i].cpu.begin_ns, s->steps[i].cpu.end_ns};
    ret->open_end = true;
    return 0;
}

/* Whether a unit in depth was taken out of it, or is in it: its time is not that of others. */
static bool focus_holds_deep(const struct looking *k, const struct piece *p)
{
    uint32_t i = 0;
    SEARCH_PAST(i, k->n_deep, k->deep_ns[i] < p->begin_ns);
    return i < k->n_deep && k->deep_ns[i] < p->end_ns;
}

static int focus_find_deep(struct looking *k)
{
    uint32_t n = 0;
    for (row_t r = 0; r < k->t->n_rows; r++) n += trace_cut_is_deep_end(k->t, r);
    k->deep_ns = arena_alloc(k->mem, (n + (size_t)1) * sizeof *k->deep_ns);
    if (!k->deep_ns) return ERR_NOMEM;
    for (row_t r = 0; r < k->t->n_rows; r++)
        if (trace_cut_is_deep_end(k->t, r)) k->deep_ns[k->n_deep++] = k->t->ts_ns[r];
    stats_sort(k->deep_ns, n);
    return 0;
}

/* The first ones with units in depth are left out like those that are not warm, while half of them
 * remain. The usual time is that of the later half: those are warm if any are. */
static int count_cold(struct looking *k, struct pieces *p)
{
    uint32_t whole = p->open_end && p->n > 2 ? p->n - 1 : p->n;
    uint32_t half = whole / 2, n = whole - half;
    int64_t *ns = arena_alloc(k->mem, n * sizeof *ns);
    if (!ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) ns[i] = p->list[half + i].end_ns - p->list[half + i].begin_ns;
    stats_sort(ns, n);
    double usual = (double)stats_median(ns, n);
    for (; p->n_cold + 1 < whole; p->n_cold++) {
        const struct piece *x = &p->list[p->n_cold];
        bool deep = p->n_cold < p->n / 2 && focus_holds_deep(k, x);
        if (!deep && (double)(x->end_ns - x->begin_ns) <= focus_cold_times * usual) break;
    }
    return 0;
}

/* When the device is done with what was launched from `begin` to `end`. */
static int64_t focus_drained(const struct trace *t, int64_t begin_ns, int64_t end_ns)
{
    int64_t last = end_ns;
    for (row_t r = 0; r < t->n_rows; r++) {
        row_t launch = timeline_has(t, r) ? trace_launch_of(t, r) : ROW_NONE;
        if (launch == ROW_NONE || t->ts_ns[launch] < begin_ns || t->ts_ns[launch] >= end_ns)
            continue;
        if (trace_end_ns(t, r) > last) last = trace_end_ns(t, r);
    }
    return last;
}

/* Leaves out the last calls if launches in them, or before the device was done with them, have no
 * record. The device lags behind by about as much at the end of each call. */
static void drop_lost(const struct looking *k, struct pieces *p, struct focus *ret)
{
    uint32_t n = p->n, most = p->n / focus_lost_part;
    int64_t limit = k->coverage.lost_ns;
    if (!k->coverage.missing_tail) return;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        while (n > 0 && p->list[n - 1].end_ns > limit) n--;
        if (n <= p->n_cold || p->n - n > (most ? most : 1)) return;
        int64_t end = p->list[n - 1].end_ns;
        int64_t done = focus_drained(k->t, p->list[p->n_cold].begin_ns, end);
        if (done <= k->coverage.lost_ns) break;
        limit = k->coverage.lost_ns - (done - end);
    }
    ret->lost_end = n < p->n;
    p->n = n;
}

static void focus_settle(const struct looking *k, const struct pieces *p, struct focus *ret)
{
    const struct trace *t = k->t;
    int64_t end = p->list[0].end_ns;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->list[i].end_ns > end) end = p->list[i].end_ns;
    ret->begin_ns = p->list[p->n_cold].begin_ns;
    ret->end_ns = focus_drained(t, ret->begin_ns, end);
    ret->n_calls = p->uncounted ? 0 : p->n - p->n_cold;
    ret->n_cold = p->n_cold;
    for (uint32_t i = 0; i < p->n_cold; i++)
        ret->cold_ns += p->list[i].end_ns - p->list[i].begin_ns;
    double whole = (double)(t->end_ns - t->begin_ns);
    ret->found = t->part.n_records || ret->lost_end ||
                 (double)(ret->end_ns - ret->begin_ns) < (1 - focus_saved_share) * whole;
}

/* A part of a long recording begins and ends anywhere: the rounds at its borders are cut off. */
static int take_whole_rounds(struct looking *k, struct pieces *p)
{
    TRY(focus_take_rounds(k, p));
    if (p->n < focus_rounds) return 0;
    p->list++;
    p->n -= 2;
    return 0;
}

/* Calls of one stage that is the program's work, or rounds of its loop, or stages side by side that
 * are one run of it; none when nothing of that holds most of the device work. */
static int focus_choose(struct looking *k, struct pieces *p, struct focus *ret)
{
    if (k->t->part.n_records) return take_whole_rounds(k, p);
    struct weights o = weigh_stages(k);
    bool one = o.n && focus_holds_most(k, k->outer[o.busiest].work_ns) &&
               (o.n == 1 || k->outer[o.busiest].has_stages);
    if (one) {
        ret->name = focus_name_of(k, o.busiest);
        TRY(focus_take_calls(k, o.busiest, p));
        return count_cold(k, p);
    }
    if (focus_holds_most(k, o.work_ns)) {
        TRY(focus_take_calls(k, STAGE_NONE, p));
        p->uncounted = true;
        return 0;
    }
    TRY(focus_take_rounds(k, p));
    return p->n ? count_cold(k, p) : 0;
}

/* Without a device one call of the outermost stage (`train`, `fit`) says nothing about what
 * repeats: the rounds inside it do. */
static int focus_choose_repeated(struct looking *k, struct pieces *p, struct focus *ret)
{
    TRY(focus_choose(k, p, ret));
    if (!k->no_device || p->n - p->n_cold >= focus_calls_without_device) return 0;
    *p = (struct pieces){0};
    ret->name = STR_NONE;
    TRY(focus_take_rounds(k, p));
    if (p->n) TRY(count_cold(k, p));
    if (p->n - p->n_cold < focus_calls_without_device) p->n = 0;
    return 0;
}

static int focus_look(struct looking *k, struct focus *ret, struct err *e)
{
    struct pieces p = {0};
    struct stage_tree_in in = {.t = k->t};
    TRY(context_need(&k->cx, &steps_pass, e));
    TRY(stage_tree_run(&in, k->mem, &k->tree, e));
    TRY(coverage_run(&k->cx, k->mem, &k->coverage, e));
    k->outer = arena_zalloc(k->mem, k->tree.n_nodes + 1, sizeof *k->outer);
    if (!k->outer) return ERR_NOMEM;
    k->no_device = !timeline_of(&k->cx)->n_devices && !k->t->n_calls;
    k->first_stage_ns = focus_first_stage(&k->tree);
    add_up_work(k);
    TRY(focus_find_deep(k));
    TRY(focus_choose_repeated(k, &p, ret));
    if (p.n) drop_lost(k, &p, ret);
    if (p.n) focus_settle(k, &p, ret);
    return 0;
}

int focus_find(const struct trace *t, struct arena *mem, struct focus *ret, struct err *e)
{
    *ret = (struct focus){.name = STR_NONE};
    if (!trace_timeline_is_ours(t)) return 0;
    struct looking k = {.t = t, .mem = mem};
    context_init(&k.cx, t, mem);
    int rc = focus_look(&k, ret, e);
    context_done(&k.cx);
    return err_grow(e, rc);
}

/* The part of this number, or the last of several if it is 0. One that is the only one, and was not
 * requested, is examined as a recording of its own: *ret_cut is false. Stages are recorded between
 * parts, too; a timeline was not. */
static int cut_part(struct trace **t, uint32_t number, bool *ret_cut, struct err *e)
{
    struct arena mem;
    struct recorded_parts parts;
    struct recorded_part p = {0};
    arena_init(&mem);
    int rc = recorded_parts_find(*t, &mem, &parts, e);
    uint32_t n = rc == 0 ? parts.n : 0, chosen = number ? number : n;
    bool found = rc == 0 && n && chosen <= n;
    *ret_cut = found && (number || n > 1);
    if (found) p = parts.list[chosen - 1];
    arena_done(&mem);
    if (rc == 0 && number > n)
        return FAIL(e, ERR_USAGE, "there is no part %u: %u were recorded by strata.timeline",
                    number, n);
    if (rc < 0 || !found) return rc;
    TRY(trace_cut(t, p.begin_ns, focus_drained(*t, p.begin_ns, p.end_ns), e));
    if (!*ret_cut) return 0;
    (*t)->part.number = chosen;
    (*t)->part.n_parts = n;
    return 0;
}

int focus_cut_part(struct trace **t, uint32_t number, struct err *e)
{
    bool done;
    return cut_part(t, number, &done, e);
}

/* When launches begin to have no record, at the end of the trace; its end if that is not lost. */
static int focus_find_lost(const struct trace *t, int64_t *ret_ns, struct err *e)
{
    struct arena mem;
    struct context cx;
    struct coverage c = {0};
    arena_init(&mem);
    context_init(&cx, t, &mem);
    int rc = context_need(&cx, &steps_pass, e);
    if (rc == 0) rc = coverage_run(&cx, &mem, &c, e);
    bool lost = rc == 0 && c.all.recorded && !coverage_edge_is_normal(&c, c.missing_tail);
    *ret_ns = lost ? c.lost_ns : t->end_ns + 1;
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

/* What was kept before something happened. What was launched while the files were written has no
 * records of the device, and is left out; that is a loss where it reaches back beyond the mark: the
 * device was far behind. */
static int cut_snapshot(struct trace **t, const struct snapshot_mark *s, struct err *e)
{
    int64_t begin = s->at_ns - s->keep_ns, end;
    TRY(focus_find_lost(*t, &end, e));
    if (begin <= (*t)->begin_ns && end > (*t)->end_ns) return 0;
    str_id name = (*t)->name[s->row];
    TRY(trace_cut(t, begin, end, e));
    struct trace_part *p = &(*t)->part;
    p->snapshot = true;
    p->snapshot_name = name;
    p->snapshot_at_ns = s->at_ns;
    p->lost_end = end < s->at_ns;
    return 0;
}

int focus_cut(struct trace **t, struct err *e)
{
    struct arena mem;
    struct focus f;
    struct snapshot_mark shot;
    bool done;
    TRY(rests_cut(t, e));
    if (snapshot_mark_find(*t, &shot) && shot.row != ROW_NONE) return cut_snapshot(t, &shot, e);
    TRY(cut_part(t, 0, &done, e));
    if (done) return 0;
    arena_init(&mem);
    int rc = focus_find(*t, &mem, &f, e);
    arena_done(&mem);
    if (rc < 0 || !f.found) return rc;
    TRY(trace_cut(t, f.begin_ns, f.end_ns, e));
    struct trace_part *p = &(*t)->part;
    p->name = f.name;
    p->n_calls = f.n_calls;
    p->n_cold = f.n_cold;
    p->cold_ns = f.cold_ns;
    p->lost_end = f.lost_end;
    return 0;
}
