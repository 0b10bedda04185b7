/* launches.c: gathers the starts of all kernels, a list a stage, and takes distributions. */
#include "analyze/launches/launches.h"

#include <stdlib.h>

#include "analyze/launches/launches_constants.h"
#include "analyze/launches/launches_private.h"
#include "analyze/names/overhead.h"
#include "base/stats.h"
#include "base/wrap.h"

struct gather {
    const struct trace *t;
    const struct context *cx;
    const struct stages *stages;
    struct arena *mem;
    struct launch_wait *starts; /* kernels of all devices */
    uint32_t n_starts;
    uint32_t **lists; /* by stage: indices into starts */
    uint32_t *n_lists;
    int64_t *scratch; /* n_starts values */
    row_t *call_rows; /* n_starts rows */
};

static struct spread spread_of(int64_t *v, uint32_t n)
{
    struct spread s = {.n = n};
    stats_sort(v, n);
    for (uint32_t i = 0; i < n; i++) s.total_ns = wrap_add(s.total_ns, v[i]);
    s.median_ns = stats_median(v, n);
    s.p95_ns = stats_percentile(v, n, 95);
    s.max_ns = n ? v[n - 1] : 0;
    return s;
}

static int launches_find_starts(struct gather *g, struct err *e)
{
    uint32_t n;
    TRY(launch_waits_run(g->cx, g->mem, &g->starts, &n, e));
    for (uint32_t i = 0; i < n; i++)
        if (g->t->kind[g->starts[i].work] == KIND_KERNEL) g->starts[g->n_starts++] = g->starts[i];
    return 0;
}

static int sum_devices(struct gather *g, struct launches *l, struct err *e)
{
    const struct timeline *tl = timeline_of(g->cx);
    l->devices = arena_zalloc(g->mem, (size_t)tl->n_devices + 1, sizeof *l->devices);
    if (!l->devices) return err_nomem(e);
    for (uint32_t d = 0; d < tl->n_devices; d++) {
        struct device_queue *q = &l->devices[l->n_devices++];
        q->queue = queues_of(g->cx)->of[d];
        TRY(device_queue_sum(&tl->devices[d], q, g->mem, e));
    }
    return launches_find_starts(g, e);
}

static uint32_t launches_owner_of(const struct gather *g, const struct launch_wait *s)
{
    return s->call == ROW_NONE ? STAGE_NONE : g->stages->tree.owner[s->call];
}

/* Every start goes to the list of every stage around its launch. */
static void list_starts(struct gather *g, bool fill)
{
    const struct stage_call *calls = g->stages->tree.calls;
    for (uint32_t i = 0; i < g->n_starts; i++) {
        uint32_t c = launches_owner_of(g, &g->starts[i]);
        for (; c != STAGE_NONE; c = calls[c].parent) {
            uint32_t stage = calls[c].node;
            if (fill) g->lists[stage][g->n_lists[stage]] = i;
            g->n_lists[stage]++;
        }
    }
}

static int group_starts(struct gather *g, struct err *e)
{
    uint32_t n = g->stages->n;
    g->lists = arena_zalloc(g->mem, (size_t)n + 1, sizeof *g->lists);
    g->n_lists = arena_zalloc(g->mem, (size_t)n + 1, sizeof *g->n_lists);
    g->scratch = arena_zalloc(g->mem, (size_t)g->n_starts + 1, sizeof *g->scratch);
    g->call_rows = arena_zalloc(g->mem, (size_t)g->n_starts + 1, sizeof *g->call_rows);
    if (!g->lists || !g->n_lists || !g->scratch || !g->call_rows) return err_nomem(e);
    list_starts(g, false);
    for (uint32_t i = 0; i < n; i++) {
        g->lists[i] = arena_zalloc(g->mem, (size_t)g->n_lists[i] + 1, sizeof **g->lists);
        if (!g->lists[i]) return err_nomem(e);
        g->n_lists[i] = 0;
    }
    list_starts(g, true);
    return 0;
}

enum field { FROM_START, FROM_END, AFTER_PREV, KERNEL_TIME, DEPTH };

static int64_t launches_field_of(const struct gather *g, const struct launch_wait *s, enum field f)
{
    switch (f) {
    case FROM_START: return s->from_start_ns;
    case FROM_END: return s->from_end_ns;
    case AFTER_PREV: return s->after_prev_ns;
    case KERNEL_TIME: return g->t->dur_ns[s->work];
    case DEPTH: return s->depth;
    }
    return 0;
}

/* The starts of a list; NULL stands for all. */
struct view {
    const uint32_t *list;
    uint32_t n;
};

static const struct launch_wait *launches_nth(const struct gather *g, struct view v, uint32_t i)
{
    return &g->starts[v.list ? v.list[i] : i];
}

/* Distribution of a field over the starts of one kind (LAUNCH_WAIT_HOWS for any). */
static struct spread spread_of_field(const struct gather *g, struct view v,
                                     enum launch_wait_how how, enum field f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v.n; i++) {
        const struct launch_wait *s = launches_nth(g, v, i);
        if (how == LAUNCH_WAIT_HOWS || s->how == how) g->scratch[n++] = launches_field_of(g, s, f);
    }
    return spread_of(g->scratch, n);
}

static int by_row(const void *a, const void *b)
{
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    return (x > y) - (x < y);
}

/* Counts the calls and takes the time from one to the next on the same thread. */
static void launches_count_calls(const struct gather *g, struct view v, struct launch_group *ret)
{
    const struct trace *t = g->t;
    uint32_t n = 0, n_intervals = 0;
    for (uint32_t i = 0; i < v.n; i++)
        if (launches_nth(g, v, i)->call != ROW_NONE)
            g->call_rows[n++] = launches_nth(g, v, i)->call;
    if (n) qsort(g->call_rows, n, sizeof *g->call_rows, by_row);
    for (uint32_t i = 0; i < n; i++) {
        row_t r = g->call_rows[i], before = i ? g->call_rows[i - 1] : ROW_NONE;
        if (r == before) continue;
        ret->launches++;
        ret->graph_launches += calls_kind(calls_of(g->cx), t, r) == CALL_GRAPH_LAUNCH;
        if (before != ROW_NONE && t->lane[before] == t->lane[r])
            g->scratch[n_intervals++] = t->ts_ns[r] - t->ts_ns[before];
    }
    ret->interval = spread_of(g->scratch, n_intervals);
}

static bool launches_is_launch_bound(const struct launch_group *l, int64_t cpu_ns)
{
    uint32_t judged =
        l->how[LAUNCH_WAIT_IDLE] + l->how[LAUNCH_WAIT_QUEUED] + l->how[LAUNCH_WAIT_BEHIND];
    if (l->kernels < launches_kernels || l->how[LAUNCH_WAIT_IN_GRAPH] * 2 > l->kernels)
        return false;
    if (!judged || l->how[LAUNCH_WAIT_IDLE] * 100ull < judged * (uint64_t)launches_idle_start_pct)
        return false;
    if (l->waiting_ns > cpu_ns / 100 * launches_waiting_pct) return false;
    return l->kernel.median_ns < l->interval.median_ns;
}

static void sum_group(const struct gather *g, struct view v, int64_t cpu_ns, struct launch_group *l)
{
    l->kernels = v.n;
    for (uint32_t i = 0; i < v.n; i++) l->how[launches_nth(g, v, i)->how]++;
    l->from_start = spread_of_field(g, v, LAUNCH_WAIT_IDLE, FROM_START);
    l->from_end = spread_of_field(g, v, LAUNCH_WAIT_IDLE, FROM_END);
    l->queued = spread_of_field(g, v, LAUNCH_WAIT_QUEUED, FROM_START);
    l->back_to_back = spread_of_field(g, v, LAUNCH_WAIT_QUEUED, AFTER_PREV);
    l->kernel = spread_of_field(g, v, LAUNCH_WAIT_HOWS, KERNEL_TIME);
    l->median_depth = (uint32_t)spread_of_field(g, v, LAUNCH_WAIT_HOWS, DEPTH).median_ns;
    launches_count_calls(g, v, l);
    l->launch_bound = launches_is_launch_bound(l, cpu_ns);
}

/* CPU time in copies and waits, for the stages around each and for all. */
static void count_waiting(const struct gather *g, struct launches *l)
{
    const struct stage_tree *tree = &g->stages->tree;
    for (row_t r = 0; r < g->t->n_rows; r++) {
        enum call_kind kind = calls_kind(calls_of(g->cx), g->t, r);
        if (!call_waits(kind) && kind != CALL_COPY) continue;
        l->all.waiting_ns += g->t->dur_ns[r];
        for (uint32_t c = tree->owner[r]; c != STAGE_NONE; c = tree->calls[c].parent)
            l->stages[tree->calls[c].node].waiting_ns += g->t->dur_ns[r];
    }
}

static int sum_groups(struct gather *g, struct launches *l, struct err *e)
{
    l->n_stages = g->stages->n;
    l->stages = arena_zalloc(g->mem, (size_t)l->n_stages + 1, sizeof *l->stages);
    if (!l->stages) return err_nomem(e);
    count_waiting(g, l);
    for (uint32_t i = 0; i < l->n_stages; i++)
        sum_group(g, (struct view){g->lists[i], g->n_lists[i]}, g->stages->list[i].cpu_ns,
                  &l->stages[i]);
    int64_t window = g->t->n_rows ? g->t->end_ns - g->t->begin_ns : 0;
    sum_group(g, (struct view){NULL, g->n_starts}, window, &l->all);
    return 0;
}

static int launches_by_total(const void *a, const void *b)
{
    const struct call_cost *x = a, *y = b;
    if (x->cost.total_ns != y->cost.total_ns) return x->cost.total_ns > y->cost.total_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Every call name that puts work on the device, with what it costs the CPU. */
static int sum_calls(struct gather *g, struct launches *l, struct err *e)
{
    const struct trace *t = g->t;
    enum { MOST = 64 };
    int64_t *values[MOST];
    uint32_t filled[MOST] = {0};
    l->calls = arena_zalloc(g->mem, MOST, sizeof *l->calls);
    uint8_t *index = arena_zalloc(g->mem, (size_t)t->strings.n + 1, 1); /* of name: call + 1 */
    if (!l->calls || !index) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows; r++) {
        enum call_kind kind = calls_kind(calls_of(g->cx), t, r);
        if (!call_launches(kind)) continue;
        uint8_t *at = &index[t->name[r]];
        if (!*at && l->n_calls == MOST) continue;
        if (!*at) {
            l->calls[l->n_calls] = (struct call_cost){.name = t->name[r], .kind = kind};
            *at = (uint8_t)++l->n_calls;
        }
        uint32_t n;
        (void)trace_launched(t, r, &n);
        l->calls[*at - 1].cost.n++;
        l->calls[*at - 1].n_work += n;
    }
    for (uint32_t i = 0; i < l->n_calls; i++) {
        values[i] = arena_zalloc(g->mem, l->calls[i].cost.n, sizeof **values);
        if (!values[i]) return err_nomem(e);
    }
    for (row_t r = 0; r < t->n_rows; r++) {
        bool is_call = t->kind[r] == KIND_RUNTIME || t->kind[r] == KIND_DRIVER;
        uint8_t at = is_call ? index[t->name[r]] : 0;
        if (at) values[at - 1][filled[at - 1]++] = t->dur_ns[r];
    }
    for (uint32_t i = 0; i < l->n_calls; i++) l->calls[i].cost = spread_of(values[i], filled[i]);
    qsort(l->calls, l->n_calls, sizeof *l->calls, launches_by_total);
    return 0;
}

static int launches_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct gather g = {.t = cx->t, .cx = cx, .stages = stages_of(cx), .mem = cx->mem};
    TRY(sum_devices(&g, ret, e));
    TRY(group_starts(&g, e));
    TRY(sum_groups(&g, ret, e));
    return sum_calls(&g, ret, e);
}

static const struct pass *const needs[] = {&calls_pass, &overheads_pass, &queues_pass, &stages_pass,
                                           NULL};

const struct pass launches_pass = {
    .id = PASS_LAUNCHES,
    .size = sizeof(struct launches),
    .needs = needs,
    .run = launches_run_pass,
};
