/* slow_launch.c: the same launch comes after a long delay in step after step, although the CPU is
 * already in the operator or line that makes it (gaps/launch_delay). Code that launches nothing
 * belongs to late_launch. */
#include "analyze/names/kernel_name.h"
#include "analyze/rules/host_function.h"
#include "base/human.h"

static int report_group(const struct context *cx, const struct launch_delay_group *g,
                        struct findings *out, struct err *e);

/* Whether it is a part of what a function does, which is reported as a whole. */
static bool is_told(const struct context *cx, const struct launch_delay_group *g,
                    const struct findings *out)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < g->n_pieces; i++)
        if (host_function_holds(cx, out, g->pieces[i].thread, g->pieces[i].time))
            ns += span_ns(g->pieces[i].time);
    return 2 * ns > g->cpu_ns;
}

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    int64_t least =
        (int64_t)((double)wall_of(cx)->wall_ns * cx->th.value[TH_REPORT_GAIN_PCT] / 200);
    for (uint32_t i = 0; i < launch_delays_of(cx)->n_groups; i++) {
        const struct launch_delay_group *g = &launch_delays_of(cx)->groups[i];
        if (g->idle_ns >= least && launch_delay_comes_back(g, steps_of(cx)) && !is_told(cx, g, out))
            TRY(report_group(cx, g, out, e));
    }
    return 0;
}

const struct rule rule_slow_launch = {
    .id = "slow_launch",
    .summary = "the GPU is idle during a long delay before the same launch in every step",
    .run = run,
};

/* Without the delays, the launches come at their usual interval. */
static int add_edit(const struct context *cx, const struct launch_delay_group *g, struct finding *f)
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

static void add_evidence(const struct context *cx, const struct launch_delay_group *g,
                         struct finding *f)
{
    const struct trace *t = cx->t;
    finding_note(f, cx->mem, t->ts_ns[g->launch], g->launch,
                 "%u launch%s after a delay of %s on average, at most %s; the usual interval is %s",
                 g->n, g->n == 1 ? "" : "es", human_time(g->cpu_ns / g->n).s,
                 human_time(g->longest_ns).s, human_time(launch_delays_of(cx)->usual_ns).s);
    finding_note(f, cx->mem, t->ts_ns[g->work], g->work,
                 "the launch after the longest delay starts %s",
                 rule_name(cx, trace_name(t, g->work), 120));
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "nothing else is recorded in that time; the GPU is idle for %s of it",
                 human_time(g->idle_ns).s);
    if (g->n_steps > 1)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "it recurs in %u of %u steps", g->n_steps,
                     steps_of(cx)->n_steps);
}

/* The operator has a name, or no operators were recorded: Python's own work is not suspected. */
static bool is_library(const struct context *cx, const struct launch_delay_group *g)
{
    struct trace_counts n;
    trace_count(cx->t, &n);
    return cx->t->kind[g->row] == KIND_OP || !n.by_kind[KIND_OP];
}

static const char *why(const struct context *cx, const struct launch_delay_group *g)
{
    const char *usual = is_library(cx, g) ? "a library plans for a new shape, code is loaded, "
                                            "a lock, or host work in C++"
                                          : "other Python work, an extension, or a lock";
    return rule_text(cx,
                     "The CPU spends %s on average in it before it launches %s, and the GPU is "
                     "idle meanwhile. Usual causes: %s.",
                     human_time(g->cpu_ns / g->n).s, rule_name(cx, trace_name(cx->t, g->work), 60),
                     usual);
}

static const char *fix(const struct context *cx, const struct launch_delay_group *g)
{
    if (!is_library(cx, g))
        return "Move that work out of the loop, cache its result, or do it while the GPU has "
               "queued work.";
    bool attention = kernel_family((enum row_kind)cx->t->kind[g->work],
                                   trace_name(cx->t, g->work)) == FAMILY_ATTENTION;
    const char *how = attention
                          ? "Keep shapes the same in every step (a static KV cache, padding), or "
                            "choose another backend (torch.nn.attention.sdpa_kernel)."
                          : "Keep shapes the same in every step (padding, static buffers).";
    if (cx->t->kind[g->row] == KIND_OP) return how;
    return rule_text(
        cx, "%s Record with strata run --ops all or torch.profiler to see which operator it is.",
        how);
}

static int report_group(const struct context *cx, const struct launch_delay_group *g,
                        struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_slow_launch, e);
    struct source_places *where = places_of(cx);
    struct place p;
    if (!f) return ERR_NOMEM;
    source_places_find(where, g->row, &p);
    rule_place(cx, f, &p);
    f->title = "long delay before a launch";
    if (cx->t->kind[g->row] == KIND_OP) f->subject = rule_name(cx, trace_name(cx->t, g->row), 80);
    f->why = why(cx, g);
    f->fix = fix(cx, g);
    f->not_fixed = "The kernels it launches do not get faster.";
    f->show = "gaps %s";
    f->blocked_ns = g->cpu_ns;
    f->exposed_ns = g->idle_ns;
    add_evidence(cx, g, f);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    f->thresholds[f->n_thresholds++] = TH_GAP_US;
    return add_edit(cx, g, f) ? err_nomem(e) : 0;
}
