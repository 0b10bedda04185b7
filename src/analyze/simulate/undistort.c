/* undistort.c: default costs, their fit to a measured wall clock, and forecasts on top of them.
 *
 * The default costs come from runs with and without torch.profiler on one machine, CPU-bound loops
 * of 400 to 3,000 launches: recording a launch with its kernel cost 0.8 of an (already recorded)
 * launch call, an op 0.27, a Python frame 0.08. */
#include "analyze/simulate/undistort.h"

#include <math.h>

static const struct {
    double launch, call, op, annotation, python, memory, shapes;
} in_launches = {0.80, 0.30, 0.27, 0.27, 0.08, 0.10, 0.06};

#define LEAST_LAUNCH_NS 1500
#define MOST_LAUNCH_NS  15000
/* How far a fit may move the default costs, and all CPU time after that. */
#define LEAST_SCALE     0.4
#define MOST_SCALE      1.6
#define LEAST_CPU_SCALE 0.75
#define MOST_CPU_SCALE  1.3
#define FIT_STEPS       12

static bool has_flag(const struct trace *t, const char *key)
{
    struct str v = trace_meta(t, key);
    return v.p && !str_is(v, "0") && !str_is(v, "false");
}

static struct sim_cost default_cost(const struct sim_model *m)
{
    double unit = (double)m->typical_launch_ns;
    if (unit < LEAST_LAUNCH_NS) unit = LEAST_LAUNCH_NS;
    if (unit > MOST_LAUNCH_NS) unit = MOST_LAUNCH_NS;
    double op = in_launches.op + (has_flag(m->t, "record_shapes") ? in_launches.shapes : 0);
    return (struct sim_cost){.launch_ns = unit * in_launches.launch,
                             .call_ns = unit * in_launches.call,
                             .op_ns = unit * op,
                             .annotation_ns = unit * in_launches.annotation,
                             .python_ns = unit * in_launches.python,
                             .memory_ns = unit * in_launches.memory,
                             .buffers = true};
}

static struct sim_cost scaled(struct sim_cost c, double f)
{
    c.launch_ns *= f;
    c.call_ns *= f;
    c.op_ns *= f;
    c.annotation_ns *= f;
    c.python_ns *= f;
    c.memory_ns *= f;
    return c;
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

static int wall_with(const struct sim_model *m, const struct sim_plan *base, struct sim_edit *edits,
                     uint32_t n_edits, struct arena *mem, int64_t *ret, struct err *e)
{
    struct arena_mark mark = arena_mark(mem);
    struct sim_plan plan;
    int rc = sim_plan_build(m, edits, n_edits, base, mem, &plan, e);
    if (rc == 0) rc = sim_wall(m, &plan, mem, ret, e);
    arena_reset_to(mem, mark);
    return rc;
}

/* Bisects `*knob` in [lo, hi] until the replay takes `target`; `sign` is +1 when a larger knob
 * makes it longer. Ends at the nearer end of the range when the target lies outside. */
static int fit(const struct sim_model *m, struct undistort *u, const struct sim_cost *unit,
               bool knob_is_cpu, int64_t target, struct arena *mem, struct err *e)
{
    double lo = knob_is_cpu ? LEAST_CPU_SCALE : LEAST_SCALE;
    double hi = knob_is_cpu ? MOST_CPU_SCALE : MOST_SCALE;
    double *knob = knob_is_cpu ? &u->cpu_scale : &u->scale;
    for (int i = 0; i < FIT_STEPS; i++) {
        *knob = (lo + hi) / 2;
        struct sim_plan base = {.cost = scaled(*unit, u->scale), .cpu_scale = u->cpu_scale};
        int64_t wall;
        TRY(wall_with(m, &base, NULL, 0, mem, &wall, e));
        if ((wall > target) == knob_is_cpu) hi = *knob;
        else lo = *knob;
    }
    return 0;
}

int undistort_run(const struct sim_model *m, int64_t wall_ns, struct arena *mem,
                  struct undistort *ret, struct err *e)
{
    *ret = (struct undistort){.scale = 1, .cpu_scale = 1, .given_ns = wall_ns};
    ret->traced_ns = m->end_ns - m->begin_ns;
    ret->n_events = count_events(m);
    ret->recorded_by_profiler = m->t->n_ops + m->t->n_py > 0 || m->t->n_calls > 0;
    struct sim_plan as_is = {0};
    TRY(wall_with(m, &as_is, NULL, 0, mem, &ret->replayed_ns, e));
    struct sim_cost unit = default_cost(m);
    if (wall_ns > 0) {
        TRY(fit(m, ret, &unit, false, wall_ns, mem, e));
        TRY(fit(m, ret, &unit, true, wall_ns, mem, e));
    }
    ret->cost = scaled(unit, ret->scale);
    struct sim_plan base = {.cost = ret->cost, .cpu_scale = ret->cpu_scale};
    return wall_with(m, &base, NULL, 0, mem, &ret->plain_ns, e);
}

static double gain(int64_t before, int64_t after)
{
    return before > 0 ? 100.0 * (double)(before - after) / (double)before : 0;
}

int forecast_run(const struct sim_model *m, const struct undistort *u, struct sim_edit *edits,
                 uint32_t n_edits, struct arena *mem, struct forecast *ret, struct err *e)
{
    struct sim_plan as_is = {0};
    *ret = (struct forecast){.traced_before_ns = u->replayed_ns, .before_ns = u->plain_ns};
    TRY(wall_with(m, &as_is, edits, n_edits, mem, &ret->traced_after_ns, e));
    struct sim_plan base = {.cost = u->cost, .cpu_scale = u->cpu_scale};
    TRY(wall_with(m, &base, edits, n_edits, mem, &ret->after_ns, e));
    ret->gain_pct = ret->low_pct = ret->high_pct = gain(ret->before_ns, ret->after_ns);
    static const double bounds[] = {0.5, 1.5};
    for (int i = 0; i < 2; i++) {
        struct sim_plan other = {.cost = scaled(u->cost, bounds[i]), .cpu_scale = u->cpu_scale};
        int64_t before, after;
        TRY(wall_with(m, &other, NULL, 0, mem, &before, e));
        TRY(wall_with(m, &other, edits, n_edits, mem, &after, e));
        double g = gain(before, after);
        if (g < ret->low_pct) ret->low_pct = g;
        if (g > ret->high_pct) ret->high_pct = g;
    }
    return 0;
}
