/* focus.c: see focus.h. */
#include "analyze/focus.h"

#include <stdlib.h>

#include "analyze/basics.h"
#include "analyze/stage_tree.h"
#include "analyze/stats.h"
#include "trace/cut.h"

#define COLD_RATIO  1.5  /* over the usual time of a call: it was not warmed up */
#define LEAST_WORK  0.8  /* share of all device work that rounds of a loop must hold */
#define LEAST_SAVED 0.05 /* share of the recording that must be left out, or all of it is shown */
#define LEAST_ROUNDS 4

/* A call of an outermost stage, or a round of the loop. */
struct piece {
    int64_t begin_ns, end_ns;
};

struct pieces {
    struct piece *list; /* by begin */
    uint32_t n, n_cold;
};

/* What an outermost stage is to the program. */
struct outer {
    int64_t work_ns; /* of devices, launched in its calls */
    bool has_stages; /* inside */
};

struct looking {
    const struct trace *t;
    struct arena *mem;
    struct basics basics;
    struct stage_tree tree;
    struct outer *outer; /* by node */
    int64_t work_ns;     /* of all devices */
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
        if (k->tree.nodes[i].parent != STAGE_NONE) k->outer[k->tree.nodes[i].parent].has_stages = true;
}

/* The outermost stage with the most device work; *ret_alone when no other has any. */
static uint32_t main_stage(const struct looking *k, bool *ret_alone)
{
    uint32_t best = STAGE_NONE, n = 0;
    for (uint32_t i = 0; i < k->tree.n_nodes; i++) {
        if (k->tree.nodes[i].parent != STAGE_NONE || k->outer[i].work_ns <= 0) continue;
        n++;
        if (best == STAGE_NONE || k->outer[i].work_ns > k->outer[best].work_ns) best = i;
    }
    *ret_alone = n == 1;
    return best;
}

static int by_begin(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Calls of `node`; of every outermost stage with work when it is STAGE_NONE. */
static int take_calls(struct looking *k, uint32_t node, struct pieces *ret)
{
    const struct trace *t = k->t;
    ret->list = arena_alloc(k->mem, k->tree.n_calls * sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    for (uint32_t i = 0; i < k->tree.n_calls; i++) {
        const struct stage_call *c = &k->tree.calls[i];
        if (c->parent != STAGE_NONE || k->tree.nodes[c->node].backward) continue;
        if (node == STAGE_NONE ? k->outer[c->node].work_ns <= 0 : c->node != node) continue;
        ret->list[ret->n++] = (struct piece){t->ts_ns[c->row], trace_end_ns(t, c->row)};
    }
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, by_begin);
    return 0;
}

static int take_rounds(struct looking *k, struct pieces *ret)
{
    const struct steps *s = &k->basics.steps;
    int64_t work = 0;
    for (uint32_t i = 0; i < s->n_steps; i++) work += s->steps[i].gpu.sum_ns;
    if (s->n_steps < LEAST_ROUNDS || (double)work < LEAST_WORK * (double)k->work_ns) return 0;
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
    for (uint32_t i = 0; i < n; i++)
        ns[i] = p->list[half + i].end_ns - p->list[half + i].begin_ns;
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

static void settle(const struct looking *k, const struct pieces *p, struct focus *ret)
{
    const struct trace *t = k->t;
    int64_t end = p->list[0].end_ns;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->list[i].end_ns > end) end = p->list[i].end_ns;
    ret->begin_ns = p->list[p->n_cold].begin_ns;
    ret->end_ns = drained(t, ret->begin_ns, end);
    ret->n_calls = p->n - p->n_cold;
    ret->n_cold = p->n_cold;
    for (uint32_t i = 0; i < p->n_cold; i++) ret->cold_ns += p->list[i].end_ns - p->list[i].begin_ns;
    double whole = (double)(t->end_ns - t->begin_ns);
    ret->found = (double)(ret->end_ns - ret->begin_ns) < (1 - LEAST_SAVED) * whole;
}

static int look(struct looking *k, struct focus *ret)
{
    bool alone;
    struct pieces p = {0};
    k->outer = arena_zalloc(k->mem, k->tree.n_nodes + 1, sizeof *k->outer);
    if (!k->outer) return ERR_NOMEM;
    add_up_work(k);
    uint32_t stage = main_stage(k, &alone);
    if (stage == STAGE_NONE) {
        TRY(take_rounds(k, &p));
        if (p.n) TRY(count_cold(k, &p));
    } else if (alone || k->outer[stage].has_stages) {
        TRY(take_calls(k, stage, &p));
        TRY(count_cold(k, &p));
        ret->name = k->tree.nodes[stage].name;
    } else {
        TRY(take_calls(k, STAGE_NONE, &p)); /* stages of one run, side by side */
    }
    if (p.n) settle(k, &p, ret);
    if (stage != STAGE_NONE && ret->name == STR_NONE) ret->n_calls = 0;
    return 0;
}

int focus_find(const struct trace *t, struct arena *mem, struct focus *ret, struct err *e)
{
    *ret = (struct focus){.name = STR_NONE};
    if (!trace_meta(t, TRACE_META_RECORDED).p) return 0;
    struct looking k = {.t = t, .mem = mem};
    TRY(basics_run(t, mem, &k.basics, e));
    TRY(stage_tree_run(t, false, mem, &k.tree, e));
    int rc = look(&k, ret);
    return rc < 0 ? FAIL(e, rc, "out of memory") : 0;
}

int focus_cut(struct trace **t, struct err *e)
{
    struct arena mem;
    struct focus f;
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
    return 0;
}
