/* gaps.c: every gap through gap_split.c, then what the sums say of the device. */
#include "analyze/gaps/gaps.h"
#include "analyze/device/host_stalls.h"

#include <stdlib.h>

#include "analyze/gaps/gap_split.h"
#include "analyze/gaps/gaps_constants.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/stats.h"
#include "base/vec.h"

struct finder {
    const struct context *cx;
    struct gap_split split;
    struct gap *gaps;
    size_t n_gaps, cap_gaps;
    struct gap_share *parts; /* of all listed gaps, in the order of the gaps */
    size_t n_parts, cap_parts;
};

static uint32_t gaps_site_of(const struct context *cx, uint32_t device, uint32_t gap)
{
    uint32_t wait = exposed_of(cx)->payers[device][gap];
    return wait == EXPOSED_NO_WAIT ? CAUSE_NO_SITE : syncs_of(cx)->site_of[wait];
}

static int keep_gap(struct finder *f, uint32_t device, uint32_t gap)
{
    const struct idle_gap *g = &idle_of(f->cx)->of[device].gaps[gap];
    const struct gap_causes *c = &f->split.causes;
    if (VEC_RESERVE(f->gaps, f->n_gaps, f->cap_gaps, 1)) return ERR_NOMEM;
    if (VEC_RESERVE(f->parts, f->n_parts, f->cap_parts, c->n_parts)) return ERR_NOMEM;
    memcpy(f->parts + f->n_parts, c->parts, c->n_parts * sizeof *c->parts);
    f->n_parts += c->n_parts;
    f->gaps[f->n_gaps++] = (struct gap){
        .device = device,
        .at = g,
        .n_parts = (uint32_t)c->n_parts,
        .step = gap_split_step(&f->split, g),
        .site = gaps_site_of(f->cx, device, gap),
    };
    return 0;
}

static int gaps_find_gaps(struct finder *f, uint32_t device, int64_t min_ns, struct err *e)
{
    const struct device_idle *idle = &idle_of(f->cx)->of[device];
    for (uint32_t i = 0; i < idle->n_gaps; i++) {
        const struct idle_gap *g = &idle->gaps[i];
        bool is_short = idle_gap_ns(g) < min_ns;
        TRY(gap_split_run(&f->split, device, g, is_short, e));
        if (!is_short && keep_gap(f, device, i)) return err_nomem(e);
    }
    return 0;
}

static int most_idle_first(const void *a, const void *b, void *causes)
{
    const struct gap_cause *all = causes, *x = &all[*(const uint32_t *)a],
                           *y = &all[*(const uint32_t *)b];
    if (x->idle_ns != y->idle_ns) return x->idle_ns > y->idle_ns ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static int by_cause(const void *a, const void *b)
{
    const struct gap_cause_inner *x = a, *y = b;
    if (x->cause != y->cause) return x->cause < y->cause ? -1 : 1;
    if (x->idle_ns != y->idle_ns) return x->idle_ns > y->idle_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool take_inner(const struct gap_causes *c, const uint32_t *rank, struct arena *mem,
                       struct gaps *ret)
{
    ret->n_inner = (uint32_t)c->n_inner;
    ret->inner = arena_zalloc(mem, c->n_inner + 1, sizeof *ret->inner);
    if (!ret->inner) return false;
    for (size_t i = 0; i < c->n_inner; i++) {
        ret->inner[i] = c->inner[i];
        ret->inner[i].cause = rank[c->inner[i].cause];
    }
    qsort(ret->inner, c->n_inner, sizeof *ret->inner, by_cause);
    return true;
}

/* Copies the causes in order of their cost, and renumbers the parts. */
static bool gaps_take_causes(struct finder *f, struct arena *mem, struct gaps *ret)
{
    struct gap_causes *c = &f->split.causes;
    uint32_t n = (uint32_t)c->n;
    uint32_t *order = arena_zalloc(mem, (size_t)n + 1, sizeof *order);
    uint32_t *rank = arena_zalloc(mem, (size_t)n + 1, sizeof *rank);
    ret->causes = arena_zalloc(mem, (size_t)n + 1, sizeof *ret->causes);
    if (!order || !rank || !ret->causes) return false;
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    if (n) qsort_r(order, n, sizeof *order, most_idle_first, c->all);
    for (uint32_t i = 0; i < n; i++) {
        ret->causes[i] = c->all[order[i]];
        rank[order[i]] = i;
    }
    for (size_t i = 0; i < f->n_parts; i++) f->parts[i].cause = rank[f->parts[i].cause];
    ret->n_causes = n;
    return take_inner(c, rank, mem, ret);
}

static int gaps_longest_first(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    int64_t dx = idle_gap_ns(x->at), dy = idle_gap_ns(y->at);
    if (dx != dy) return dx > dy ? -1 : 1;
    if (x->at->begin_ns != y->at->begin_ns) return x->at->begin_ns < y->at->begin_ns ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

static bool gaps_take_gaps(struct finder *f, struct arena *mem, struct gaps *ret)
{
    struct gap_share *parts = arena_zalloc(mem, f->n_parts + 1, sizeof *parts);
    ret->all = arena_zalloc(mem, f->n_gaps + 1, sizeof *ret->all);
    if (!parts || !ret->all) return false;
    if (f->n_parts) memcpy(parts, f->parts, f->n_parts * sizeof *parts);
    for (size_t i = 0; i < f->n_gaps; i++) {
        f->gaps[i].parts = parts;
        parts += f->gaps[i].n_parts;
        ret->all[i] = f->gaps[i];
    }
    qsort(ret->all, f->n_gaps, sizeof *ret->all, gaps_longest_first);
    ret->n_all = (uint32_t)f->n_gaps;
    return true;
}

static int64_t mean_work_ns(const struct trace *t, const struct device_line *d)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < d->n_work; i++) sum += t->dur_ns[d->work[i]];
    return d->n_work ? sum / d->n_work : 0;
}

/* Time from the first launch of the device's work to the last, without waits, over their number. */
static int64_t mean_interval_ns(const struct context *cx, const struct device_line *d)
{
    const struct trace *t = cx->t;
    const struct waits *all = waits_of(cx);
    int64_t first = INT64_MAX, last = INT64_MIN, waits = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t call = trace_launch_of(t, d->work[i]);
        if (call == ROW_NONE) continue;
        n++;
        if (t->ts_ns[call] < first) first = t->ts_ns[call];
        if (t->ts_ns[call] > last) last = t->ts_ns[call];
    }
    for (size_t i = 0; n && i < all->n; i++) {
        const struct wait *w = &all->all[i];
        if (w->begin_ns >= first && w->end_ns <= last) waits += w->blocked_ns;
    }
    return n > 1 && last - first > waits ? (last - first - waits) / (n - 1) : 0;
}

/* Work shorter than the time between launches leaves gaps whatever the program does in between. */
static bool gaps_is_small(const struct gaps *g, uint32_t device)
{
    const struct gaps_device *d = &g->devices[device];
    if (d->idle_ns == 0 || d->kernel_ns >= d->interval_ns) return false;
    for (uint32_t i = 0; i < g->n_causes; i++) {
        const struct gap_cause *c = &g->causes[i];
        bool own = c->kind == CAUSE_SHORT || c->kind == CAUSE_LAUNCH || c->kind == CAUSE_DEVICE;
        if (c->device != device || own) continue;
        if (100 * c->idle_ns > gaps_main_cause_pct * d->idle_ns) return false;
    }
    return true;
}

static int gaps_describe(const struct context *cx, uint32_t i, struct gaps *g)
{
    const struct device_line *line = &timeline_of(cx)->devices[i];
    const struct trace *t = cx->t;
    struct gaps_device *d = &g->devices[i];
    *d = (struct gaps_device){.device = line->device, .n_gaps = idle_of(cx)->of[i].n_gaps};
    if (!line->n_busy) return 0;
    d->window = (struct span){line->busy[0].begin_ns, line->busy[line->n_busy - 1].end_ns};
    d->busy_ns = line->busy_before_ns[line->n_busy];
    d->idle_ns = idle_of(cx)->of[i].total_ns;
    bool timed = t->begin_ns != ID_NONE;
    if (timed && t->begin_ns < d->window.begin_ns) d->before_ns = d->window.begin_ns - t->begin_ns;
    if (timed && t->end_ns > d->window.end_ns) d->after_ns = t->end_ns - d->window.end_ns;
    d->kernel_ns = mean_work_ns(t, line);
    d->interval_ns = mean_interval_ns(cx, line);
    d->small_shapes = gaps_is_small(g, i);
    int64_t *lengths = arena_zalloc(cx->mem, (size_t)g->n_all + 1, sizeof *lengths);
    if (!lengths) return ERR_NOMEM;
    for (uint32_t k = 0; k < g->n_all; k++)
        if (g->all[k].device == i) lengths[d->n_listed++] = idle_gap_ns(g->all[k].at);
    stats_sort(lengths, d->n_listed);
    if (d->n_listed) d->median_ns = stats_median(lengths, d->n_listed);
    if (d->n_listed) d->p95_ns = stats_percentile(lengths, d->n_listed, 95);
    return 0;
}

static int gaps_find_all(struct finder *f, struct gaps *g, struct err *e)
{
    const struct context *cx = f->cx;
    g->n_devices = timeline_of(cx)->n_devices;
    g->min_ns = (int64_t)(cx->th.value[TH_GAP_US] * 1e3);
    for (uint32_t i = 0; i < g->n_devices; i++) TRY(gaps_find_gaps(f, i, g->min_ns, e));
    g->devices = arena_zalloc(cx->mem, (size_t)g->n_devices + 1, sizeof *g->devices);
    bool ok = g->devices && gaps_take_causes(f, cx->mem, g) && gaps_take_gaps(f, cx->mem, g);
    for (uint32_t i = 0; ok && i < g->n_devices; i++) ok = gaps_describe(cx, i, g) == 0;
    return ok ? 0 : err_nomem(e);
}

static int gaps_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct finder f = {.cx = cx};
    TRY(gap_split_init(&f.split, cx, e));
    int rc = gaps_find_all(&f, ret, e);
    gap_split_done(&f.split);
    mem_free(f.gaps);
    mem_free(f.parts);
    return rc;
}

static const struct pass *const needs[] = {
    &host_stalls_pass, &calls_pass, &timeline_pass, &steps_pass, &idle_pass, &syncs_pass, NULL};

const struct pass gaps_pass = {
    .id = PASS_GAPS,
    .size = sizeof(struct gaps),
    .needs = needs,
    .run = gaps_run_pass,
};

const struct gap_cause_inner *gaps_inner(const struct gaps *g, uint32_t cause, uint32_t *ret_n)
{
    uint32_t i = 0;
    SEARCH_PAST(i, g->n_inner, g->inner[i].cause < cause);
    uint32_t end = i;
    while (end < g->n_inner && g->inner[end].cause == cause) end++;
    *ret_n = end - i;
    return g->inner + i;
}

int64_t gaps_host_late_ns(const struct gaps *g)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < g->n_causes; i++)
        if (g->causes[i].kind == CAUSE_CORE || g->causes[i].kind == CAUSE_CGROUP)
            ns += g->causes[i].idle_ns;
    return ns;
}

bool gaps_recurs(const struct gap_cause *c, const struct steps *s)
{
    if (s->n_steps < 2) return c->count >= gaps_often;
    return c->in_steps * 2 > s->n_steps;
}
