/* device_idle.c: one walk over the work of a device in start order. */
#include "analyze/device/device_idle.h"

static struct idle_gap make_gap(const struct trace *t, row_t prev, row_t next)
{
    struct idle_gap g = {.begin_ns = trace_end_ns(t, prev),
                         .end_ns = t->ts_ns[next],
                         .prev = prev,
                         .next = next,
                         .launch = trace_launch_of(t, next)};
    g.late_ns = g.begin_ns;
    if (g.launch != ROW_NONE && t->ts_ns[g.launch] > g.begin_ns)
        g.late_ns = t->ts_ns[g.launch] < g.end_ns ? t->ts_ns[g.launch] : g.end_ns;
    return g;
}

int device_idle_run(const struct trace *t, const struct device_line *d, struct arena *mem,
                    struct device_idle *ret, struct err *e)
{
    struct device_idle idle = {arena_zalloc(mem, (size_t)d->n_busy + 1, sizeof *idle.gaps), 0, 0};
    if (!idle.gaps) return err_nomem(e);
    row_t prev = ROW_NONE;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        if (t->dur_ns[r] == 0) continue; /* an instant neither ends a gap nor makes one */
        if (prev != ROW_NONE && t->ts_ns[r] > trace_end_ns(t, prev)) {
            struct idle_gap g = make_gap(t, prev, r);
            idle.total_ns += idle_gap_ns(&g);
            idle.gaps[idle.n_gaps++] = g;
        }
        if (prev == ROW_NONE || trace_end_ns(t, r) > trace_end_ns(t, prev)) prev = r;
    }
    *ret = idle;
    return 0;
}

lane_id idle_gap_handed_over(const struct trace *t, const struct idle_gap *g)
{
    row_t before = trace_launch_of(t, g->prev);
    if (before == ROW_NONE || g->launch == ROW_NONE) return LANE_NONE;
    lane_id from = t->lane[before], to = t->lane[g->launch];
    return from != to && t->lanes[from].process == t->lanes[to].process ? from : LANE_NONE;
}

static int device_idle_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct timeline *tl = timeline_of(cx);
    struct idle_times *idle = ret;
    idle->n = tl->n_devices;
    idle->of = arena_zalloc(cx->mem, (size_t)idle->n + 1, sizeof *idle->of);
    if (!idle->of) return err_nomem(e);
    for (uint32_t i = 0; i < idle->n; i++)
        TRY(device_idle_run(cx->t, &tl->devices[i], cx->mem, &idle->of[i], e));
    return 0;
}

static const struct pass *const needs[] = {&timeline_pass, NULL};

const struct pass idle_pass = {
    .id = PASS_IDLE,
    .size = sizeof(struct idle_times),
    .needs = needs,
    .run = device_idle_run_pass,
};
