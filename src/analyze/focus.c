/* focus.c: see focus.h. */
#include "analyze/focus.h"

#include <stdlib.h>

#include "analyze/names/label.h"
#include "analyze/quality/coverage.h"
#include "analyze/stages/stage_tree.h"
#include "analyze/steps/steps.h"
#include "base/stats.h"
#include "trace/cut.h"
#include "trace/kept.h"
#include "trace/recorded_parts.h"

#define COLD_RATIO   1.5  /* over the usual time of a call: it was not warmed up */
#define LEAST_WORK   0.5  /* share of all device work that what is shown must hold */
#define LEAST_SAVED  0.05 /* share of the recording that must be left out, or all of it is shown */
#define LEAST_ROUNDS 4
#define MOST_LOST    4 /* one call in so many may be left out because its records were lost */
#define MOST_TRIES   3 /* to find the last of them */

/* A call of an outermost stage, or a round of the loop. */
struct piece {
    int64_t begin_ns, end_ns;
};

struct pieces {
    struct piece *list; /* by begin */
    uint32_t n, n_cold;
    bool uncounted; /* of several stages: their number says nothing */
};

/* Of an outermost stage. */
struct outer {
    int64_t work_ns; /* of devices, launched in its calls */
    bool has_stages; /* inside */
    bool is_part;    /* nobody named it, and it is not a whole call: a module, backward */
};

struct looking {
    const struct trace *t;
    struct arena *mem;
    struct context cx;
    struct stage_tree tree;
    struct outer *outer; /* by node */
    struct coverage coverage;
    int64_t work_ns; /* of all devices */
};

static uint32_t outermost(const struct stage_tree *s, uint32_t call)
{
    while (call != STAGE_NONE && s->calls[call].parent != STAGE_NONE) call = s->calls[call].parent;
    return call;
}

static void add_up_work(struct looking *k)
{
    const struct trace *t = k->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!timeline_has(t, r)) continue;
        k->work_ns += t->dur_ns[r];
        row_t launch = trace_launch_of(t, r);
        uint32_t call = launch == ROW_NONE ? STAGE_NONE : k->tree.owner[launch];
        call = outermost(&k->tree, call);
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

static bool holds_most(const struct looking *k, int64_t work_ns)
{
    return work_ns > 0 && (double)work_ns >= LEAST_WORK * (double)k->work_ns;
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

static str_id name_of(const struct looking *k, uint32_t node)
{
    for (uint32_t i = 0; i < k->tree.n_calls; i++)
        if (k->tree.calls[i].node == node) return k->t->name[k->tree.calls[i].row];
    return STR_NONE;
}

static int by_begin(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Calls of `node`; of every outermost stage with work when it is STAGE_NONE. */
static int take_calls(struct looking *k, uint32_t node, struct pieces *ret)
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
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, by_begin);
    return 0;
}

static int take_rounds(struct looking *k, struct pieces *ret)
{
    const struct steps *s = steps_of(&k->cx);
    int64_t work = 0;
    for (uint32_t i = 0; i < s->n_steps; i++) work += s->steps[i].gpu.sum_ns;
    if (s->n_steps < LEAST_ROUNDS || !holds_most(k, work)) return 0;
    ret->list = arena_alloc(k->mem, s->n_steps * sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_steps; i++)
        ret->list[ret->n++] = (struct piece){s->steps[i].cpu.begin_ns, s->steps[i].cpu.end_ns};
    return 0;
}

/* The usual time is that of the later half: those are warm if any are. */
static int count_cold(struct looking *k, struct pieces *p)
{
    uint32_t half = p->n / 2, n = p->n - half;
    int64_t *ns = arena_alloc(k->mem, n * sizeof *ns);
    if (!ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) ns[i] = p->list[half + i].end_ns - p->list[half + i].begin_ns;
    stats_sort(ns, n);
    double usual = (double)stats_median(ns, n);
    for (; p->n_cold + 1 < p->n; p->n_cold++) {
        const struct piece *x = &p->list[p->n_cold];
        if ((double)(x->end_ns - x->begin_ns) <= COLD_RATIO * usual) break;
    }
    return 0;
}

/* When the device is done with what was launched from `begin` to `end`. */
static int64_t drained(const struct trace *t, int64_t begin_ns, int64_t end_ns)
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
    uint32_t n = p->n, most = p->n / MOST_LOST;
    int64_t limit = k->coverage.lost_ns;
    if (!k->coverage.missing_tail) return;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        while (n > 0 && p->list[n - 1].end_ns > limit) n--;
        if (n <= p->n_cold || p->n - n > (most ? most : 1)) return;
        int64_t end = p->list[n - 1].end_ns;
        int64_t done = drained(k->t, p->list[p->n_cold].begin_ns, end);
        if (done <= k->coverage.lost_ns) break;
        limit = k->coverage.lost_ns - (done - end);
    }
    ret->lost_end = n < p->n;
    p->n = n;
}

static void settle(const struct looking *k, const struct pieces *p, struct focus *ret)
{
    const struct trace *t = k->t;
    int64_t end = p->list[0].end_ns;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->list[i].end_ns > end) end = p->list[i].end_ns;
    ret->begin_ns = p->list[p->n_cold].begin_ns;
    ret->end_ns = drained(t, ret->begin_ns, end);
    ret->n_calls = p->uncounted ? 0 : p->n - p->n_cold;
    ret->n_cold = p->n_cold;
    for (uint32_t i = 0; i < p->n_cold; i++)
        ret->cold_ns += p->list[i].end_ns - p->list[i].begin_ns;
    double whole = (double)(t->end_ns - t->begin_ns);
    ret->found = t->part.n_records || ret->lost_end ||
                 (double)(ret->end_ns - ret->begin_ns) < (1 - LEAST_SAVED) * whole;
}

/* A part of a long recording begins and ends anywhere: the rounds at its borders are cut off. */
static int take_whole_rounds(struct looking *k, struct pieces *p)
{
    TRY(take_rounds(k, p));
    if (p->n < LEAST_ROUNDS) return 0;
    p->list++;
    p->n -= 2;
    return 0;
}

/* Calls of one stage that is the program's work, or rounds of its loop, or stages side by side that
 * are one run of it; none when nothing of that holds most of the device work. */
static int choose(struct looking *k, struct pieces *p, struct focus *ret)
{
    if (k->t->part.n_records) return take_whole_rounds(k, p);
    struct weights o = weigh_stages(k);
    bool one = o.n && holds_most(k, k->outer[o.busiest].work_ns) &&
               (o.n == 1 || k->outer[o.busiest].has_stages);
    if (one) {
        ret->name = name_of(k, o.busiest);
        TRY(take_calls(k, o.busiest, p));
        return count_cold(k, p);
    }
    if (holds_most(k, o.work_ns)) {
        TRY(take_calls(k, STAGE_NONE, p));
        p->uncounted = true;
        return 0;
    }
    TRY(take_rounds(k, p));
    return p->n ? count_cold(k, p) : 0;
}

static int look(struct looking *k, struct focus *ret, struct err *e)
{
    struct pieces p = {0};
    struct stage_tree_in in = {.t = k->t};
    TRY(context_need(&k->cx, &steps_pass, e));
    TRY(stage_tree_run(&in, k->mem, &k->tree, e));
    TRY(coverage_run(&k->cx, k->mem, &k->coverage, e));
    k->outer = arena_zalloc(k->mem, k->tree.n_nodes + 1, sizeof *k->outer);
    if (!k->outer) return ERR_NOMEM;
    add_up_work(k);
    TRY(choose(k, &p, ret));
    if (p.n) drop_lost(k, &p, ret);
    if (p.n) settle(k, &p, ret);
    return 0;
}

int focus_find(const struct trace *t, struct arena *mem, struct focus *ret, struct err *e)
{
    *ret = (struct focus){.name = STR_NONE};
    if (!trace_meta(t, TRACE_META_RECORDED).p) return 0;
    struct looking k = {.t = t, .mem = mem};
    context_init(&k.cx, t, mem);
    int rc = look(&k, ret, e);
    context_done(&k.cx);
    return err_grow(e, rc);
}

/* The part of this number, or the last of several if it is 0; *ret_cut is false when there is
 * only one and none was asked for. */
static int cut_part(struct trace **t, uint32_t number, bool *ret_cut, struct err *e)
{
    struct arena mem;
    struct recorded_parts parts;
    struct recorded_part p = {0};
    arena_init(&mem);
    int rc = recorded_parts_find(*t, &mem, &parts, e);
    uint32_t n = rc == 0 ? parts.n : 0, chosen = number ? number : n;
    *ret_cut = rc == 0 && chosen <= n && (number || n > 1);
    if (*ret_cut) p = parts.list[chosen - 1];
    arena_done(&mem);
    if (rc == 0 && number > n)
        return FAIL(e, ERR_USAGE, "there is no part %u: %u were recorded by strata.timeline",
                    number, n);
    if (rc < 0 || !*ret_cut) return rc;
    TRY(trace_cut(t, p.begin_ns, drained(*t, p.begin_ns, p.end_ns), e));
    (*t)->part.number = chosen;
    (*t)->part.n_parts = n;
    return 0;
}

int focus_cut_part(struct trace **t, uint32_t number, struct err *e)
{
    bool done;
    return cut_part(t, number, &done, e);
}

/* What was kept before something happened. */
static int cut_snapshot(struct trace **t, const struct kept *s, struct err *e)
{
    int64_t begin = s->at_ns - s->keep_ns;
    if (begin <= (*t)->begin_ns) return 0;
    TRY(trace_cut(t, begin, (*t)->end_ns + 1, e));
    (*t)->part.snapshot = true;
    return 0;
}

int focus_cut(struct trace **t, struct err *e)
{
    struct arena mem;
    struct focus f;
    struct kept shot;
    bool done;
    if (kept_find(*t, &shot)) return cut_snapshot(t, &shot, e);
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
