/* undistort.c: the profiler's cost, its fit to a measured wall clock, and forecasts without it. */
#include "analyze/simulate/undistort.h"

#include <math.h>

#include "base/stats.h"

/* A launch call outside these is not a measure of how slow recording is on the machine. */
#define LEAST_LAUNCH_NS 1500
#define MOST_LAUNCH_NS  15000
/* How far a fit may move the default cost, and all CPU time after that. */
#define LEAST_SCALE     0.25
#define MOST_SCALE      1.1
#define LEAST_CPU_SCALE 0.75
#define MOST_CPU_SCALE  1.3
#define FIT_STEPS       12

static double default_cost(const struct sim_model *m)
{
    double ns = (double)m->typical_launch_ns;
    return ns < LEAST_LAUNCH_NS ? LEAST_LAUNCH_NS : ns > MOST_LAUNCH_NS ? MOST_LAUNCH_NS : ns;
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

static int wall_with(const struct sim_model *m, struct sim_edits edits, struct arena *mem,
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
    return wall_with(m, (struct sim_edits){.base = base}, mem, ret, e);
}

/* Bisects the cost (or, with `cpu`, the scale of all CPU time) until the replay takes as long as
 * was measured. Ends at the nearer end of the range when that lies outside. */
static int fit(struct undistort *u, bool cpu, struct arena *mem, struct err *e)
{
    double lo = cpu ? LEAST_CPU_SCALE : LEAST_SCALE;
    double hi = cpu ? MOST_CPU_SCALE : MOST_SCALE;
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
        TRY(fit(u, false, mem, e));
        return fit(u, true, mem, e);
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

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    return undistort_run(model_of(cx), cx->measured_ns, cx->mem, ret, e);
}

static const struct pass *const needs[] = {&model_pass, NULL};

const struct pass undistort_pass = {
    .id = PASS_UNDISTORT,
    .size = sizeof(struct undistort),
    .needs = needs,
    .run = run_pass,
};

/* Widens the range of the forecast by the gain at another cost of recording. */
static int widen(const struct undistort *u, double times, struct sim_edits edits, struct arena *mem,
                 struct forecast *f, struct err *e)
{
    struct sim_plan other = undistort_base(u);
    other.cost_ns *= times;
    edits.base = &other;
    int64_t before = 0, after = 0;
    TRY(wall_of_base(u->m, &other, mem, &before, e));
    TRY(wall_with(u->m, edits, mem, &after, e));
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
    TRY(wall_with(u->m, edits, mem, &ret->traced_after_ns, e));
    edits.base = &base;
    TRY(wall_with(u->m, edits, mem, &ret->after_ns, e));
    ret->gain_pct = ret->low_pct = ret->high_pct =
        stats_pct(ret->before_ns - ret->after_ns, ret->before_ns);
    TRY(widen(u, 0.5, edits, mem, ret, e));
    return widen(u, 1.5, edits, mem, ret, e);
}
