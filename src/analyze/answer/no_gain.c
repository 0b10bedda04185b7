/* no_gain.c: see no_gain.h. */
#include "analyze/answer/no_gain.h"

#include <math.h>

#include "analyze/answer/answer_constants.h"
#include "analyze/findings/rule.h"
#include "analyze/names/program.h"
#include "base/human.h"
#include "base/stats.h"

static double predicted_pct(const struct findings *f)
{
    double sum = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (!f->items[i]->advice && f->items[i]->n_edits) sum += f->items[i]->gain_pct;
    return sum;
}

/* ---- what fills the time ---- */

/* A wait of the CPU that is as long as what the device waits for: one and the same. */
static const char *no_gain_meanwhile(const struct context *cx, const struct gap_cause *c)
{
    if (c->kind != CAUSE_DEPENDENCY && c->kind != CAUSE_DEVICE && c->kind != CAUSE_UNKNOWN)
        return "";
    for (uint32_t i = 0; i < syncs_of(cx)->n_sites; i++) {
        const struct sync_site *s = &syncs_of(cx)->sites[i];
        if (2 * s->blocked_ns > c->idle_ns)
            return rule_text(cx, ", while the CPU is in %s",
                             rule_name(cx, trace_str(cx->t, s->call), 40));
    }
    return "";
}

static void add_fill(const struct context *cx, struct no_gain *n, struct time_fill f)
{
    f.share_pct = stats_pct((double)f.idle_ns, (double)wall_of(cx)->wall_ns);
    if (f.share_pct < no_gain_cause_pct || n->n_fills == NO_GAIN_FILLS) return;
    n->fills[n->n_fills++] = f;
}

static struct time_fill no_gain_fill_of(const struct context *cx, const struct gap_cause *c)
{
    const char *name = rule_name(cx, c->name, 60), *meanwhile = no_gain_meanwhile(cx, c);
    return (struct time_fill){
        .kind = gap_cause_kind_name(c->kind),
        .what = gap_cause_is_missing(c->kind)
                    ? rule_text(cx, "%s%s", name, meanwhile)
                    : rule_text(cx, "%s (%s)%s", name, gap_cause_kind_words(c->kind), meanwhile),
        .idle_ns = c->idle_ns};
}

/* Causes are listed most first; the time before and after all work goes where it belongs. */
static void find_fills(const struct context *cx, struct no_gain *n)
{
    const struct gaps *g = gaps_of(cx);
    const struct bound_shares *p = &wall_of(cx)->parts;
    struct time_fill outside = {.kind = "outside",
                                .what = "before the first and after the last GPU work",
                                .idle_ns = p->outside_ns};
    for (uint32_t i = 0; i < g->n_causes; i++) {
        const struct gap_cause *c = &g->causes[i];
        if (g->devices[c->device].device != p->device) continue;
        if (outside.idle_ns > c->idle_ns) {
            add_fill(cx, n, outside);
            outside.idle_ns = 0;
        }
        add_fill(cx, n, no_gain_fill_of(cx, c));
    }
    add_fill(cx, n, outside);
}

/* ---- why nothing is predicted ---- */

static int64_t idle_of_kinds(const struct context *cx, enum gap_cause_kind a, enum gap_cause_kind b)
{
    return wall_of(cx)->parts.idle_ns[a] + wall_of(cx)->parts.idle_ns[b];
}

/* Share of device work that graphs launch. */
static double graph_pct(const struct context *cx)
{
    const struct sim_model *m = model_of(cx);
    uint64_t in_graphs = 0;
    for (uint32_t c = 0; c < m->n_calls; c++)
        if (m->calls[c].kind == CALL_GRAPH_LAUNCH) in_graphs += m->calls[c].n_work;
    return stats_pct((double)in_graphs, (double)m->n_works);
}

static bool no_gain_repeats(const struct context *cx)
{
    if (steps_of(cx)->n_steps) return true;
    for (uint32_t i = 0; i < stages_of(cx)->n; i++)
        if (stages_of(cx)->list[i].user && stages_of(cx)->list[i].calls > 1) return true;
    return false;
}

/* Functions that JAX dispatches one by one in a step; an operation outside of jax.jit is one. Only
 * with steps: a few calls in a recording without any say nothing of a loop. */
static double no_gain_jax_calls(const struct context *cx)
{
    const struct trace *t = cx->t;
    uint32_t n = 0, lane = UINT32_MAX;
    int64_t end_ns = 0; /* of the outermost one: a call is recorded in Python and below it */
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_OP || !program_is_jax_call(trace_name(t, r))) continue;
        if (t->lane[r] == lane && t->ts_ns[r] < end_ns) continue;
        lane = t->lane[r];
        end_ns = trace_end_ns(t, r);
        n++;
    }
    return (double)n / steps_of(cx)->n_steps;
}

static const char *no_gain_few_launches(const struct context *cx)
{
    uint32_t n = steps_of(cx)->median_launches;
    if (!n) return "most steps launch nothing: the CPU spends the time, and the GPU is not used";
    return rule_text(cx,
                     "a step has only %u launch%s, too few for a graph or for fusion; the CPU "
                     "spends the time around %s",
                     n, n == 1 ? "" : "es", n == 1 ? "it" : "them");
}

static const char *no_gain_reason(const struct context *cx)
{
    const struct bound_shares *p = &wall_of(cx)->parts;
    int64_t busy = p->kernel_ns + p->copy_ns, idle = p->wall_ns - busy;
    double plain = stats_pct((double)busy, (double)undistort_of(cx)->plain_ns);
    if (findings_of(cx)->unpriced)
        return rule_text(cx, "the replay misses the trace by %.0f %%",
                         fabs(undistort_error_pct(undistort_of(cx))));
    if (plain >= no_gain_busy_pct)
        return rule_text(
            cx,
            "without the profiler the GPU would be busy about %.0f %% of the time, so most of "
            "the idle time is the cost of recording",
            plain < 100 ? plain : 100);
    if (2 * p->outside_ns > idle)
        return rule_text(cx,
                         "%s of the %s are before the first or after the last GPU work: "
                         "the recording contains more than the loop",
                         human_time(p->outside_ns).s, human_time(p->wall_ns).s);
    if (2 * idle_of_kinds(cx, CAUSE_PROFILER, CAUSE_LOADING) > idle)
        return "most of the idle time is profiler overhead or code loading, which a steady run "
               "does not have";
    if (graph_pct(cx) > no_gain_graphs_pct)
        return rule_text(
            cx,
            "%.0f %% of the GPU's work is launched by graphs already, so launching less "
            "gains nothing",
            graph_pct(cx));
    if (steps_of(cx)->n_steps && no_gain_jax_calls(cx) >= no_gain_launches)
        return rule_text(cx,
                         "JAX dispatches %.0f compiled functions per step one by one, and the GPU "
                         "waits for each; put all of it under one jax.jit",
                         no_gain_jax_calls(cx));
    if (!no_gain_repeats(cx))
        return "nothing repeats in the trace, so the gain in a loop cannot be computed; record "
               "several steps";
    if (steps_of(cx)->n_steps && steps_of(cx)->median_launches < no_gain_launches)
        return no_gain_few_launches(cx);
    if (2 * idle_of_kinds(cx, CAUSE_UNTRACED, CAUSE_LABEL) > idle)
        return "what the CPU does while the GPU is idle was not recorded; record Python functions "
               "(with_stack=True, or strata run) to see it";
    return "the idle time has many causes, none of which can be removed alone";
}

static int no_gain_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct no_gain *n = ret;
    const struct wall *w = wall_of(cx);
    (void)e;
    if (w->abstains || w->bound == BOUND_UNKNOWN || w->busy_pct >= no_gain_busy_pct) return 0;
    double predicted = predicted_pct(findings_of(cx));
    find_fills(cx, n);
    n->in_graphs = graph_pct(cx) > no_gain_graphs_pct;
    n->unexplained = 2 * predicted < 100 - w->busy_pct;
    bool missed = predicted < cx->th.value[TH_MEDIUM_GAIN_PCT];
    if (missed && w->bound != BOUND_GPU) n->reason = no_gain_reason(cx);
    return 0;
}

static const struct pass *const needs[] = {&findings_pass, NULL};

const struct pass no_gain_pass = {
    .id = PASS_NO_GAIN,
    .size = sizeof(struct no_gain),
    .needs = needs,
    .run = no_gain_run_pass,
};
