/* exposed.c: gaps in time order against the open debts of the thread that ended them. */
#include "analyze/waits/syncs.h"

#include "analyze/device/thread_slices.h"
#include "base/mem.h"

/* One thread's waits [first, end) of waits.all. Its open ones stand in ledger.open from `first` on.
 */
struct debtor {
    size_t first, next, end;
    size_t n_open;
};

struct ledger {
    const struct trace *t;
    const struct waits *waits;
    int64_t *exposed_ns;    /* by wait: what is found */
    struct debtor *debtors; /* by lane */
    int64_t *left_ns;       /* by wait: debt not paid off yet */
    uint32_t *open;         /* wait numbers, one stack a thread */
};

static void open_debts(struct ledger *k, struct debtor *d, int64_t until_ns)
{
    for (; d->next < d->end && k->waits->all[d->next].begin_ns < until_ns; d->next++) {
        const struct wait *w = &k->waits->all[d->next];
        if (w->profiler) continue;
        if (w->drains) d->n_open = 0;
        k->open[d->first + d->n_open++] = (uint32_t)d->next;
    }
}

/* Charges the late part of a gap, of which `taken_ns` at its end is paid for already; returns how
 * much is paid for now. The wait that pays most is noted with the gap. */
static int64_t exposed_charge(struct ledger *k, struct debtor *d, const struct idle_gap *g,
                              int64_t taken_ns, uint32_t *payer)
{
    open_debts(k, d, g->late_ns);
    uint32_t *open = k->open + d->first;
    size_t i = d->n_open;
    int64_t highest = 0;
    while (i > 0 && taken_ns < g->late_ns - g->begin_ns) {
        uint32_t at = open[--i];
        const struct wait *w = &k->waits->all[at];
        int64_t since = w->begin_ns > g->begin_ns ? w->begin_ns : g->begin_ns;
        int64_t room = g->late_ns - since - taken_ns;
        int64_t pay = room < k->left_ns[at] ? room : k->left_ns[at];
        if (pay <= 0) continue;
        k->left_ns[at] -= pay;
        k->exposed_ns[at] += pay;
        taken_ns += pay;
        if (pay > highest) *payer = at;
        if (pay > highest) highest = pay;
    }
    size_t n = i;
    for (; i < d->n_open; i++)
        if (k->left_ns[open[i]] > 0) open[n++] = open[i];
    d->n_open = n;
    return taken_ns;
}

/* The thread that handed over to the one that ended the gap, if that one was not doing anything
 * yet. */
static lane_id waited_for(const struct trace *t, const struct idle_gap *g)
{
    lane_id other = idle_gap_handed_over(t, g);
    if (other == LANE_NONE) return other;
    struct thread_slices d;
    struct thread_slice p;
    thread_slices_init(&d, t, t->lane[g->launch], g->begin_ns, g->end_ns);
    return thread_slices_next(&d, &p) && p.row == ROW_NONE ? other : LANE_NONE;
}

static void exposed_settle(struct ledger *k, const struct device_idle *idle, uint32_t *payers)
{
    for (uint32_t i = 0; i < idle->n_gaps; i++) {
        const struct idle_gap *g = &idle->gaps[i];
        payers[i] = EXPOSED_NO_WAIT;
        if (g->late_ns == g->begin_ns) continue;
        int64_t taken = exposed_charge(k, &k->debtors[k->t->lane[g->launch]], g, 0, &payers[i]);
        lane_id other = waited_for(k->t, g);
        if (other != LANE_NONE) exposed_charge(k, &k->debtors[other], g, taken, &payers[i]);
    }
}

/* All debts as they were when the waits happened: each device pays on its own. */
static void exposed_reset(struct ledger *k)
{
    for (lane_id l = 0; l < k->t->n_lanes; l++) k->debtors[l] = (struct debtor){0};
    for (size_t i = 0; i < k->waits->n; i++) {
        struct debtor *d = &k->debtors[k->t->lane[k->waits->all[i].call]];
        if (d->end == 0) d->first = d->next = i;
        d->end = i + 1;
        k->left_ns[i] = k->waits->all[i].cost_ns;
    }
}

static bool settle_all(struct ledger *k, const struct idle_times *idle, struct arena *mem,
                       struct exposed *ret)
{
    for (uint32_t i = 0; i < idle->n; i++) {
        ret->payers[i] = arena_alloc(mem, ((size_t)idle->of[i].n_gaps + 1) * sizeof **ret->payers);
        if (!ret->payers[i]) return false;
        exposed_reset(k);
        exposed_settle(k, &idle->of[i], ret->payers[i]);
    }
    return true;
}

static int exposed_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct waits *w = waits_of(cx);
    const struct idle_times *idle = idle_of(cx);
    struct exposed *x = ret;
    x->ns = arena_zalloc(cx->mem, w->n + 1, sizeof *x->ns);
    x->payers = arena_zalloc(cx->mem, (size_t)idle->n + 1, sizeof *x->payers);
    struct ledger k = {.t = cx->t, .waits = w, .exposed_ns = x->ns};
    k.debtors = mem_zalloc(cx->t->n_lanes + 1, sizeof *k.debtors);
    k.left_ns = mem_zalloc(w->n + 1, sizeof *k.left_ns);
    k.open = mem_zalloc(w->n + 1, sizeof *k.open);
    bool ok =
        x->ns && x->payers && k.debtors && k.left_ns && k.open && settle_all(&k, idle, cx->mem, x);
    mem_free(k.debtors);
    mem_free(k.left_ns);
    mem_free(k.open);
    return ok ? 0 : err_nomem(e);
}

static const struct pass *const needs[] = {&idle_pass, &waits_pass, NULL};

const struct pass exposed_pass = {
    .id = PASS_EXPOSED,
    .size = sizeof(struct exposed),
    .needs = needs,
    .run = exposed_run_pass,
};
