/* analysis.c: the order of the passes. Each one sees what came before it; rules see everything. */
#include "analyze/analysis.h"

#include "analyze/rules/rule.h"

static int run_passes(struct analysis *a, struct err *e)
{
    TRY(basics_run(a->t, a->mem, &a->basics, e));
    TRY(integrity_run(&a->basics, a->mem, &a->integrity, e));
    a->abstains = !a->integrity.idle_trusted || a->integrity.quality == QUALITY_UNUSABLE;
    TRY(stages_run(&a->basics, false, a->mem, &a->stages, e));
    TRY(memory_run(&a->basics, &a->stages, a->mem, &a->memory, e));
    TRY(syncs_run(a->t, &a->basics, a->mem, &a->syncs, e));
    struct gaps_in in = {a->t, &a->basics, &a->syncs, (int64_t)(a->th.value[TH_GAP_US] * 1e3)};
    TRY(gaps_run(&in, a->mem, &a->gaps, e));
    TRY(launchless_run(a->t, &a->basics, &a->gaps, a->mem, &a->quiet, e));
    struct launch_delay_in late = {a->t, &a->basics, &a->gaps, a->integrity.recording.sample_ns};
    return launch_delays_run(&late, a->mem, &a->stretches, e);
}

static int run_replay(struct analysis *a, int64_t wall_ns, struct err *e)
{
    TRY(sim_model_run(a->t, &a->basics.calls, a->mem, &a->model, e));
    TRY(undistort_run(&a->model, wall_ns, a->mem, &a->undistort, e));
    a->wall_ns = a->undistort.traced_ns;
    bound_run(a->t, &a->basics.timeline, &a->gaps, a->model.begin_ns, a->model.end_ns, &a->parts);
    a->bound = a->abstains ? BOUND_UNKNOWN : bound_of(&a->parts);
    int64_t busy = a->parts.kernel_ns + a->parts.copy_ns;
    a->busy_pct = a->wall_ns > 0 ? 100.0 * (double)busy / (double)a->wall_ns : 0;
    return 0;
}

int analysis_run(struct analysis *a, const struct trace *t, const struct analysis_options *o,
                 struct arena *mem, struct err *e)
{
    *a = (struct analysis){.t = t, .mem = mem};
    if (o->thresholds) a->th = *o->thresholds;
    else thresholds_init(&a->th);
    TRY(run_passes(a, e));
    TRY(run_replay(a, o->wall_ns, e));
    if (!a->abstains) TRY(rules_run(a, &a->findings, e));
    TRY(findings_rank(&a->findings, &a->model, &a->undistort, &a->th, mem, e));
    return checklist_run(a, &a->checklist, e);
}

void analysis_done(struct analysis *a)
{
    findings_done(&a->findings);
}
