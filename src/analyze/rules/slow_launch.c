/* slow_launch.c: the same launch comes after a long delay in step after step, although the CPU is
 * already in the operator or line that makes it (gaps/launch_delay). Code that launches nothing
 * belongs to late_launch. */
#include "analyze/findings/claims.h"
#include "analyze/names/copy.h"
#include "analyze/names/kernel_name.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

static int slow_launch_report_group(const struct context *cx, const struct launch_delay_group *g,
                                    struct findings *out, struct err *e);

/* Whether it is a part of what a function does, which is reported as a whole. */
static bool slow_launch_is_told(const struct context *cx, const struct launch_delay_group *g,
                                const struct findings *out)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < g->n_pieces; i++)
        if (claims_time(out, cx, g->pieces[i].thread, g->pieces[i].time))
            ns += span_ns(g->pieces[i].time);
    return 2 * ns > g->cpu_ns;
}

static int slow_launch_run(const struct context *cx, struct findings *out, struct err *e)
{
    int64_t least = rule_least_idle_ns(cx);
    for (uint32_t i = 0; i < launch_delays_of(cx)->n_groups; i++) {
        const struct launch_delay_group *g = &launch_delays_of(cx)->groups[i];
        if (g->idle_ns >= least && launch_delay_comes_back(g, steps_of(cx)) &&
            !slow_launch_is_told(cx, g, out))
            TRY(slow_launch_report_group(cx, g, out, e));
    }
    return 0;
}

const struct rule rule_slow_launch = {
    .id = "slow_launch",
    .summary = "the GPU is idle during a long delay before the same launch in every step",
    .limit = LIMIT_CPU,
    .yields_to = RULE_LIST(&rule_host_function, &rule_lock_wait),
    .run = slow_launch_run,
};

/* Without the delays, the launches come at their usual interval. */
static int slow_launch_add_edit(const struct context *cx, const struct launch_delay_group *g,
                                struct finding *f)
{
    struct sim_cut *cuts = arena_zalloc(cx->mem, g->n_pieces, sizeof *cuts);
    if (!cuts) return ERR_NOMEM;
    uint32_t n = 0;
    double keep = (double)launch_delays_of(cx)->usual_ns * g->n / (double)g->cpu_ns;
    for (uint32_t i = 0; i < g->n_pieces; i++) {
        const struct launch_delay_piece *p = &g->pieces[i];
        uint32_t thread = sim_thread_of(model_of(cx), p->thread);
        if (thread == SIM_NONE) continue;
        cuts[n++] = (struct sim_cut){
            .thread = thread, .begin_ns = p->time.begin_ns, .end_ns = p->time.end_ns, .keep = keep};
    }
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_SCALE_SPANS, .spans = cuts, .n_spans = n};
    return 0;
}

static void slow_launch_add_evidence(const struct context *cx, const struct launch_delay_group *g,
                                     struct finding *f)
{
    const struct trace *t = cx->t;
    finding_note(f, cx->mem, t->ts_ns[g->launch], g->launch,
                 "%s launch%s after a delay of %s on average, at most %s; the usual interval is %s",
                 human_count(g->n).s, g->n == 1 ? "" : "es", human_time(g->cpu_ns / g->n).s,
                 human_time(g->longest_ns).s, human_time(launch_delays_of(cx)->usual_ns).s);
    finding_note(f, cx->mem, t->ts_ns[g->work], g->work,
                 "the launch after the longest delay starts %s", rule_row_name(cx, g->work, 120));
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "nothing else is recorded in that time; the GPU is idle for %s of it",
                 human_time(g->idle_ns).s);
    if (g->n_steps > 1)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "it recurs in %s of %s steps",
                     human_count(g->n_steps).s, human_count(steps_of(cx)->n_steps).s);
}

/* The operator has a name, or no operators were recorded: Python's own work is not suspected. */
static bool is_library(const struct context *cx, const struct launch_delay_group *g)
{
    struct trace_counts n;
    trace_count(cx->t, &n);
    return cx->t->kind[g->row] == KIND_OP || !n.by_kind[KIND_OP];
}

/* What the launched work is: libraries plan products, convolutions and attention by their shape. */
static enum kernel_family slow_launch_family(const struct context *cx,
                                             const struct launch_delay_group *g)
{
    return kernel_family((enum row_kind)cx->t->kind[g->work], trace_name(cx->t, g->work));
}

static bool slow_launch_is_attention(const struct context *cx, const struct launch_delay_group *g)
{
    return str_has(trace_name(cx->t, g->row), "attention") ||
           slow_launch_family(cx, g) == FAMILY_ATTENTION;
}

static bool slow_launch_is_planned(const struct context *cx, const struct launch_delay_group *g)
{
    enum kernel_family f = slow_launch_family(cx, g);
    return slow_launch_is_attention(cx, g) || f == FAMILY_GEMM || f == FAMILY_CONV;
}

/* Whether it uploads data: then the delay is the time in which that is made. A constant is none. */
static bool slow_launch_uploads(const struct context *cx, const struct launch_delay_group *g)
{
    const struct gpu_info *info = trace_gpu(cx->t, g->work);
    return copy_of(cx->t, g->work).way == COPY_TO_DEVICE && info && info->bytes >= sync_data_bytes;
}

static const char *slow_launch_why(const struct context *cx, const struct launch_delay_group *g)
{
    const char *usual = slow_launch_uploads(cx, g)
                            ? "what is uploaded is computed or converted on the CPU, or read"
                        : !is_library(cx, g) ? "other Python work, an extension, or a lock"
                        : slow_launch_is_planned(cx, g)
                            ? "a library that plans for a new shape, loading of code, a lock, or "
                              "work in C++"
                            : "loading of code, a lock, or work in C++";
    return rule_text(cx,
                     "The CPU needs %s on average before it launches %s, and the GPU is idle "
                     "meanwhile. Usual causes: %s.",
                     human_time(g->cpu_ns / g->n).s, rule_row_name(cx, g->work, 60), usual);
}

static const char *slow_launch_fix(const struct context *cx, const struct launch_delay_group *g)
{
    if (slow_launch_uploads(cx, g))
        return "Make on the GPU what is uploaded: upload the inputs, which are often smaller, and "
               "run the same operators there; or prepare the next one in another thread or process "
               "while the GPU computes.";
    if (!is_library(cx, g))
        return "Move that work out of the loop, cache its result, or do it while the GPU has "
               "queued work.";
    const char *how =
        slow_launch_is_attention(cx, g)
            ? "Keep shapes the same in every step (a static KV cache, padding), or, if "
              "it is cuDNN's, torch.backends.cuda.enable_cudnn_sdp(False): flash "
              "attention needs no plan for a new shape."
        : slow_launch_is_planned(cx, g)
            ? "Keep shapes the same in every step (padding, static buffers)."
            : "Find out what the thread does there: strata run --level timeline samples its "
              "stack. A warm-up before the loop loads code; work on the host and locks can be "
              "moved out of the loop.";
    if (cx->t->kind[g->row] == KIND_OP) return how;
    return rule_text(
        cx, "%s Record with strata run --ops all or torch.profiler to see which operator it is.",
        how);
}

static int slow_launch_report_group(const struct context *cx, const struct launch_delay_group *g,
                                    struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_slow_launch, e);
    struct source_places *where = places_of(cx);
    struct place p;
    if (!f) return ERR_NOMEM;
    source_places_find(where, g->row, &p);
    rule_place(cx, f, &p);
    f->title = "long delay before a launch";
    if (cx->t->kind[g->row] == KIND_OP) f->subject = rule_row_name(cx, g->row, 80);
    f->why = slow_launch_why(cx, g);
    f->fix = slow_launch_fix(cx, g);
    f->not_fixed = "The kernels it launches do not get faster.";
    f->show = "gaps %s";
    f->blocked_ns = g->cpu_ns;
    f->exposed_ns = g->idle_ns;
    slow_launch_add_evidence(cx, g, f);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    f->thresholds[f->n_thresholds++] = TH_GAP_US;
    return slow_launch_add_edit(cx, g, f) ? err_nomem(e) : 0;
}
