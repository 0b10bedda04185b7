/* launch_bound.c: a stage whose kernels are so short that the CPU cannot launch them fast enough.
 * Fewer launches help: a CUDA graph replays the whole stage with one call. */
#include "analyze/rules/rule.h"
#include "base/human.h"

/* With fewer launches per call than this, there is nothing to capture. */
#define LEAST_LAUNCHES 8
/* The device has to be idle for this share of the stage's CPU time. */
#define LEAST_IDLE 0.3

/* A first call this many times as long as the usual one did something else: it compiled. */
#define FIRST_IS_ODD 10

/* How much longer than usual the first call took, if it is odd. */
static int64_t once_ns(const struct stage *s)
{
    bool odd = s->calls > 2 && s->first_ns / FIRST_IS_ODD > s->median_ns;
    return odd ? s->first_ns - s->median_ns : 0;
}

/* CPU time of the stage without waits and one-time work. */
static int64_t busy_ns(const struct stage *s)
{
    int64_t ns = s->cpu_ns - s->blocked_ns - once_ns(s);
    return ns > 0 ? ns : 0;
}

static int64_t idle_ns(const struct stage *s)
{
    int64_t ns = s->idle_meanwhile_ns - once_ns(s);
    return ns > 0 ? ns : 0;
}

static int64_t launch_interval(const struct stage *s)
{
    return busy_ns(s) / (s->launches ? s->launches : 1);
}

/* A single launch, not their number, takes most of the stage: rule slow_launch. */
static bool is_one_launch(const struct context *cx, const struct stage *s)
{
    return 2 * launch_delays_in(launch_delays_of(cx), cx, s->name) > busy_ns(s);
}

static bool is_launch_bound(const struct context *cx, const struct stage *s)
{
    uint32_t n = work_sum_count(&s->gpu);
    if (!s->user || s->container || !s->calls || s->launches / s->calls < LEAST_LAUNCHES || !n)
        return false;
    if (s->graph_launches * 2 > s->launches || is_one_launch(cx, s)) return false;
    int64_t mean_work = s->gpu.sum_ns / n;
    return mean_work < launch_interval(s) && (double)idle_ns(s) > LEAST_IDLE * (double)busy_ns(s);
}

/* Only the outermost launch-bound stages count: a graph of a stage contains those of its parts. */
static bool inside_another(const struct context *cx, uint32_t i)
{
    const struct stages *all = stages_of(cx);
    for (uint32_t p = all->list[i].parent; p != STAGE_NONE; p = all->list[p].parent)
        if (is_launch_bound(cx, &all->list[p])) return true;
    return false;
}

static int report_stage(const struct context *cx, const struct stage *s, struct findings *out,
                        struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    for (uint32_t i = 0; i < stages_of(cx)->n; i++)
        if (is_launch_bound(cx, &stages_of(cx)->list[i]) && !inside_another(cx, i))
            TRY(report_stage(cx, &stages_of(cx)->list[i], out, e));
    return 0;
}

const struct rule rule_launch_bound = {
    .id = "launch_bound",
    .summary = "a stage of many small kernels that the CPU cannot launch fast enough",
    .run = run,
};

static const char *fix(const struct stage *s, struct str name)
{
    if (str_starts(name, "Optimizer.step"))
        return "Launch less: use the fused optimizer (fused=True), or torch.compile around the "
               "step.";
    return s->syncs ? "Launch less: use torch.compile(mode=\"reduce-overhead\") or a CUDA graph "
                      "around the code between its syncs (a sync cannot be captured), a larger "
                      "batch, or fused operators."
                    : "Launch less: use torch.compile(mode=\"reduce-overhead\"), a CUDA graph "
                      "around the stage, a larger batch, or fused operators.";
}

static int report_stage(const struct context *cx, const struct stage *s, struct findings *out,
                        struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_launch_bound, e);
    if (!f) return ERR_NOMEM;
    struct str name = trace_str(cx->t, s->name);
    int64_t mean = s->gpu.sum_ns / work_sum_count(&s->gpu);
    f->title = "launch-bound stage";
    f->subject = rule_name(cx, name, 80);
    f->why =
        rule_text(cx,
                  "Each call makes %u launches, one every %s, but the work they start takes only "
                  "%s on average: most of the time the GPU waits for the next launch.",
                  s->launches / s->calls, human_time(launch_interval(s)).s, human_time(mean).s);
    f->fix = fix(s, name);
    f->not_fixed = "The kernels themselves do not get faster; a CUDA graph needs the same shapes "
                   "and addresses in every call.";
    f->show = "launches %s";
    f->blocked_ns = busy_ns(s);
    f->exposed_ns = idle_ns(s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "%s: %u call%s, %u launches, %s of CPU time, %s of GPU work", f->subject, s->calls,
                 s->calls == 1 ? "" : "s", s->launches, human_time(s->cpu_ns).s,
                 human_time(s->gpu.sum_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE, "the GPU is idle for %s while the CPU runs it",
                 human_time(idle_ns(s)).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "the queue is never deeper than %u: the CPU does not run ahead",
                 model_of(cx)->deepest_queue);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_CUDA_GRAPH, .pattern = rule_exactly(cx, name)};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
