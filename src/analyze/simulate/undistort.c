/* undistort.c: the profiler's cost, its fit to a measured wall clock, and forecasts without it. */
#include "analyze/simulate/undistort.h"

#include <math.h>

#include "analyze/simulate/simulate_constants.h"
#include "base/stats.h"

/* How far a fit may move the default cost, and all CPU time after that. */
#define FIT_STEPS 12

static double default_cost(const struct sim_model *m)
{
    double ns = (double)m->typical_launch_ns;
    return ns < undistort_launch_least_ns  ? undistort_launch_least_ns
           : ns > undistort_launch_most_ns ? undistort_launch_most_ns
                                           : ns;
}

static uint64_t count_events(const struct sim_model *m)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        const struct lane *lane = &m->t->lanes[m->threads[i].lane];
        n += lane->end - lane->begin;
    }
    return n;
}

struct sim_plan undistort_base(const struct undistort *u)
{
    return (struct sim_plan){.cost_ns = u->cost_ns,
                             .no_buffers = u->cost_ns > 0,
                             .cpu_scale = u->cpu_scale,
                             .time_scale = u->time_scale};
}

static int undistort_wall_with(const struct sim_model *m, struct sim_edits edits, struct arena *mem,
                               int64_t *ret, struct err *e)
{
    struct arena_mark mark = arena_mark(mem);
    struct sim_plan plan;
    int rc = sim_plan_build(m, edits, mem, &plan, e);
    if (rc == 0) rc = sim_wall(m, &plan, mem, ret, e);
    arena_reset_to(mem, mark);
    return rc;
}

static int wall_of_base(const struct sim_model *m, const struct sim_plan *base, struct arena *mem,
                        int64_t *ret, struct err *e)
{
    return undistort_wall_with(m, (struct sim_edits){.base = base}, mem, ret, e);
}

/* Bisects the cost (or, with `cpu`, the scale of all CPU time) until the replay takes as long as
 * was measured. Ends at the nearer end of the range when that lies outside. */
static int undistort_fit(struct undistort *u, bool cpu, struct arena *mem, struct err *e)
{
    double lo = cpu ? undistort_cpu_scale_least : undistort_scale_least;
    double hi = cpu ? undistort_cpu_scale_most : undistort_scale_most;
    double *knob = cpu ? &u->cpu_scale : &u->scale;
    for (int i = 0; i < FIT_STEPS; i++) {
        *knob = (lo + hi) / 2;
        u->cost_ns = default_cost(u->m) * u->scale;
        struct sim_plan base = undistort_base(u);
        int64_t wall = 0;
        TRY(wall_of_base(u->m, &base, mem, &wall, e));
        if ((wall > u->given_ns) == cpu) hi = *knob;
        else lo = *knob;
    }
    return 0;
}

/* A run that takes longer without a profiler than with one was not slowed by it: the clocks were
 * others, and all times change alike. */
static int fit_all(struct undistort *u, struct arena *mem, struct err *e)
{
    if (u->given_ns <= u->replayed_ns) {
        TRY(undistort_fit(u, false, mem, e));
        return undistort_fit(u, true, mem, e);
    }
    int64_t wall = 0;
    u->cost_ns = default_cost(u->m);
    struct sim_plan base = undistort_base(u);
    TRY(wall_of_base(u->m, &base, mem, &wall, e));
    if (wall > 0) u->time_scale = (double)u->given_ns / (double)wall;
    return 0;
}

int undistort_run(const struct sim_model *m, int64_t wall_ns, struct arena *mem,
                  struct undistort *ret, struct err *e)
{
    *ret = (struct undistort){
        .m = m, .scale = 1, .cpu_scale = 1, .time_scale = 1, .given_ns = wall_ns};
    ret->traced_ns = m->end_ns - m->begin_ns;
    ret->n_events = count_events(m);
    struct sim_plan as_is = {0};
    TRY(wall_of_base(m, &as_is, mem, &ret->replayed_ns, e));
    if (wall_ns > 0) TRY(fit_all(ret, mem, e));
    ret->cost_ns = default_cost(m) * ret->scale;
    ret->launch_ns = ret->cost_ns * m->launch_weight;
    ret->op_ns = ret->cost_ns * m->op_weight;
    ret->python_ns = ret->cost_ns * m->python_weight;
    struct sim_plan base = undistort_base(ret);
    return wall_of_base(m, &base, mem, &ret->plain_ns, e);
}

static int undistort_run_pass(struct context *cx, void *ret, struct err *e)
{
    return undistort_run(model_of(cx), cx->measured_ns, cx->mem, ret, e);
}

static const struct pass *const needs[] = {&model_pass, NULL};

const struct pass undistort_pass = {
    .id = PASS_UNDISTORT,
    .size = sizeof(struct undistort),
    .needs = needs,
    .run = undistort_run_pass,
};

/* Nothing is later for what does not happen. The replay can say so: device work whose launch was
 * not recorded follows what was before it on its stream, and stands where it was recorded once that
 * is gone. */
static bool undistort_only_removes(const struct sim_edits *edits)
{
    for (uint32_t i = 0; i < edits->n; i++) {
        enum sim_edit_kind k = edits->list[i].kind;
        if (k != EDIT_DROP_SYNC && k != EDIT_DROP_CPU && k != EDIT_DROP_ROWS &&
            k != EDIT_DROP_KERNEL && k != EDIT_DROP_SPANS)
            return false;
    }
    return true;
}

static int undistort_after(const struct undistort *u, struct sim_edits edits, struct arena *mem,
                           int64_t before_ns, int64_t *ret_ns, struct err *e)
{
    TRY(undistort_wall_with(u->m, edits, mem, ret_ns, e));
    if (*ret_ns > before_ns && undistort_only_removes(&edits)) *ret_ns = before_ns;
    return 0;
}

/* Widens the range of the forecast by the gain at another cost of recording. */
static int undistort_widen(const struct undistort *u, double times, struct sim_edits edits,
                           struct arena *mem, struct forecast *f, struct err *e)
{
    struct sim_plan other = undistort_base(u);
    other.cost_ns *= times;
    edits.base = &other;
    int64_t before = 0, after = 0;
    TRY(wall_of_base(u->m, &other, mem, &before, e));
    TRY(undistort_after(u, edits, mem, before, &after, e));
    double g = stats_pct(before - after, before);
    if (g < f->low_pct) f->low_pct = g;
    if (g > f->high_pct) f->high_pct = g;
    return 0;
}

int forecast_run(const struct undistort *u, struct sim_edits edits, struct arena *mem,
                 struct forecast *ret, struct err *e)
{
    struct sim_plan as_is = {0}, base = undistort_base(u);
    *ret = (struct forecast){.traced_before_ns = u->replayed_ns, .before_ns = u->plain_ns};
    edits.base = &as_is;
    TRY(undistort_after(u, edits, mem, ret->traced_before_ns, &ret->traced_after_ns, e));
    edits.base = &base;
    TRY(undistort_after(u, edits, mem, ret->before_ns, &ret->after_ns, e));
    ret->gain_pct = ret->low_pct = ret->high_pct =
        stats_pct(ret->before_ns - ret->after_ns, ret->before_ns);
    TRY(undistort_widen(u, 0.5, edits, mem, ret, e));
    return undistort_widen(u, 1.5, edits, mem, ret, e);
}
