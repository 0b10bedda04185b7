/* undistort.h: taking the profiler's own cost out of a trace.
 *
 * Recording slows the CPU, not the GPU, and so changes which of them is the bottleneck: a sync that
 * looks free under the profiler can be the whole problem without it. Costs are per recorded event,
 * in units of what a launch call takes in this very trace (a slow machine records slowly too). A
 * wall clock measured without a profiler fits them. */
#ifndef STRATA_ANALYZE_SIMULATE_UNDISTORT_H
#define STRATA_ANALYZE_SIMULATE_UNDISTORT_H

#include "analyze/simulate/edits.h"
#include "base/stats.h"

struct undistort {
    const struct sim_model *m;
    double cost_ns;      /* of recording, per weight in the model: a launch call at first */
    double scale;        /* of the default costs; 1 unless fitted */
    double cpu_scale;    /* of all CPU time; 1 unless costs alone could not fit the wall clock */
    double time_scale;   /* of everything; 1 unless those two could not fit it */
    int64_t traced_ns;   /* wall clock of the trace */
    int64_t replayed_ns; /* replay without changes: its distance from traced_ns is the error */
    int64_t plain_ns;    /* replay without the profiler's cost */
    int64_t given_ns;    /* wall clock given by the user, or 0 */
    double launch_ns, op_ns, python_ns; /* what that makes for one event */
    uint64_t n_events;                  /* events whose recording was charged */
};

/* `wall_ns` is the wall clock measured without a profiler, 0 when not known. */
int undistort_run(const struct sim_model *m, int64_t wall_ns, struct arena *mem,
                  struct undistort *ret, struct err *e) MUST_USE;

extern const struct pass undistort_pass;

static inline const struct undistort *undistort_of(const struct context *cx)
{
    return context_kept(cx, PASS_UNDISTORT);
}

/* How far the replay of the trace as it is is off, in per cent of its wall clock; below 0 when it
 * is too short. */
static inline double undistort_error_pct(const struct undistort *u)
{
    return stats_pct(u->replayed_ns - u->traced_ns, u->traced_ns);
}

/* The plan everything without the profiler starts from. */
struct sim_plan undistort_base(const struct undistort *u);

/* A wall clock before and after edits, as traced and without the profiler. */
struct forecast {
    int64_t traced_before_ns, traced_after_ns;
    int64_t before_ns, after_ns; /* without the profiler */
    double gain_pct;             /* of before_ns; what to believe */
    double low_pct, high_pct;    /* gain with half and with one and a half times the cost */
};

/* The base of `edits` is not examined: both forecasts have their own. */
int forecast_run(const struct undistort *u, struct sim_edits edits, struct arena *mem,
                 struct forecast *ret, struct err *e) MUST_USE;

#endif
