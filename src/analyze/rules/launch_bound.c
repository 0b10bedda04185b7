/* launch_bound.c: a stage whose kernels are so short that the CPU cannot launch them fast enough.
 * What helps is launching less: a CUDA graph replays the whole stage with one call. */
#include "analyze/rules/rule.h"
#include "base/human.h"

/* Launches a call below which there is nothing to capture. */
#define LEAST_LAUNCHES 8
/* The device has to idle for this share of the stage's CPU time. */
#define LEAST_IDLE 0.3

/* A first call this many times as long as the usual one did something else: it compiled. */
#define FIRST_IS_ODD 10

/* What the first call took more than usual, where it is odd. */
static int64_t once_ns(const struct stage *s)
{
    bool odd = s->calls > 2 && s->first_ns / FIRST_IS_ODD > s->median_ns;
    return odd ? s->first_ns - s->median_ns : 0;
}

/* CPU time of the stage, waits and what happened once left out. */
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

/* Not many launches but a single one takes most of the stage: rule slow_launch. */
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

/* The outermost launch-bound stages: a graph of a stage contains those of its parts. */
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
    .summary = "a stage of many small kernels: the CPU cannot launch them fast enough",
    .run = run,
};

static const char *fix(const struct stage *s, struct str name)
{
    if (str_starts(name, "Optimizer.step"))
        return "Launch less: the fused optimizer (fused=True), or torch.compile around the step.";
    return s->syncs ? "Launch less: torch.compile(mode=\"reduce-overhead\") or a CUDA graph around "
                      "what lies between its syncs (a sync cannot be captured), a larger batch, or "
                      "fused operators."
                    : "Launch less: torch.compile(mode=\"reduce-overhead\"), a CUDA graph around "
                      "the stage, a larger batch, or fused operators.";
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
                  "Its %u launches a call are %s apart, but the work they start takes %s on "
                  "average: the GPU waits for the next launch most of the time.",
                  s->launches / s->calls, human_time(launch_interval(s)).s, human_time(mean).s);
    f->fix = fix(s, name);
    f->not_fixed = "The kernels themselves get no faster; shapes and addresses must stay the same "
                   "between calls.";
    f->show = "launches %s";
    f->blocked_ns = busy_ns(s);
    f->exposed_ns = idle_ns(s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "%s: %u calls, %u launches, %s of CPU time, %s of GPU work", f->subject, s->calls,
                 s->launches, human_time(s->cpu_ns).s, human_time(s->gpu.sum_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE, "the GPU is idle for %s while the CPU is in it",
                 human_time(idle_ns(s)).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "the queue is never deeper than %u: the CPU is not ahead",
                 model_of(cx)->deepest_queue);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_CUDA_GRAPH, .pattern = rule_exactly(cx, name)};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
