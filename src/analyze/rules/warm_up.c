/* warm_up.c: the first step is slower than the rest, or a label waits before its first operator:
 * the window includes one-time work (lazy loading, autotuning, allocator growth). No gain is
 * predicted; figures that include it are not those of a steady run. */
#include "analyze/findings/rule.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

static int report_first_step(const struct context *cx, struct findings *out, struct err *e);
static int report_dead_window(const struct context *cx, const struct dead_window *d,
                              struct findings *out, struct err *e);

/* Time in [begin, end) that the recorder reported as its own: it allocates its first buffers during
 * the first step. */
static int64_t recorder_time(const struct trace *t, int64_t begin_ns, int64_t end_ns)
{
    struct span window = {begin_ns, end_ns};
    int64_t total = 0;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_OVERHEAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++)
            total += span_ns(span_both(trace_span(t, r), window));
    }
    return total;
}

/* Only idle device time changes a figure. */
static bool warm_up_matters(const struct context *cx, int64_t begin_ns, int64_t end_ns)
{
    const struct device_line *d = timeline_device(timeline_of(cx), wall_of(cx)->parts.device);
    int64_t idle = d ? timeline_idle_ns(d, begin_ns, end_ns) : end_ns - begin_ns;
    return (double)(idle - recorder_time(cx->t, begin_ns, end_ns)) >
           warm_up_share * (double)wall_of(cx)->wall_ns;
}

static bool first_is_slow(const struct context *cx)
{
    const struct steps *s = steps_of(cx);
    if (s->n_steps < 3 || s->median_ns <= 0) return false;
    struct span first = s->steps[0].cpu;
    int64_t ns = first.end_ns - first.begin_ns - recorder_time(cx->t, first.begin_ns, first.end_ns);
    return (double)ns >= cx->th.value[TH_FIRST_STEP_RATIO] * (double)s->median_ns &&
           warm_up_matters(cx, first.begin_ns, first.end_ns);
}

static const struct dead_window *longest_dead(const struct context *cx)
{
    const struct steps *s = steps_of(cx);
    const struct dead_window *longest = NULL;
    for (uint32_t i = 0; i < s->n_dead; i++)
        if (!longest || s->dead[i].dead_ns > longest->dead_ns) longest = &s->dead[i];
    if (!longest ||
        !warm_up_matters(cx, cx->t->ts_ns[longest->label], cx->t->ts_ns[longest->first_op]))
        return NULL;
    return longest;
}

static int warm_up_run(const struct context *cx, struct findings *out, struct err *e)
{
    if (first_is_slow(cx)) TRY(report_first_step(cx, out, e));
    const struct dead_window *dead = longest_dead(cx);
    return dead ? report_dead_window(cx, dead, out, e) : 0;
}

const struct rule rule_warm_up = {
    .id = "warm_up",
    .summary = "the recorded window includes one-time work",
    .limit = LIMIT_NONE,
    .run = warm_up_run,
};

static int report_first_step(const struct context *cx, struct findings *out, struct err *e)
{
    const struct steps *s = steps_of(cx);
    struct finding *f = rule_finding(cx, out, &rule_warm_up, e);
    if (!f) return ERR_NOMEM;
    int64_t first = s->steps[0].cpu.end_ns - s->steps[0].cpu.begin_ns;
    f->advice = true;
    f->title = "the first step includes warm-up";
    f->subject = s->steps[0].name == STR_NONE
                     ? "step 0"
                     : rule_name(cx, trace_str(cx->t, s->steps[0].name), 60);
    f->why =
        rule_text(cx,
                  "It takes %s, the others %s: it includes one-time work such as lazy loading, "
                  "autotuning or allocator growth.",
                  human_time(first).s, human_time(s->median_ns).s);
    f->fix = trace_timeline_is_ours(cx->t)
                 ? "Run a few steps before recording, or record with --only STAGE --skip 2."
                 : "Run a few steps before recording, or record with schedule(wait=1, warmup=2, "
                   "active=3).";
    f->not_fixed =
        "Warming up removes this cost from the figures; a user's first call still pays it.";
    f->show = "steps %s";
    f->effort = EFFORT_ONE_LINE;
    f->blocked_ns = first - s->median_ns;
    finding_note(f, cx->mem, s->steps[0].cpu.begin_ns, ROW_NONE, "step 0 takes %s",
                 human_time(first).s);
    f->thresholds[f->n_thresholds++] = TH_FIRST_STEP_RATIO;
    return 0;
}

static int report_dead_window(const struct context *cx, const struct dead_window *d,
                              struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_warm_up, e);
    if (!f) return ERR_NOMEM;
    f->advice = true;
    f->title = "cold start before the first operator";
    f->subject = rule_row_name(cx, d->label, 60);
    f->why = rule_text(cx,
                       "Nothing is recorded for %s between the start of the label and its first "
                       "operator; usually this takes %s.",
                       human_time(d->dead_ns).s, human_time(d->usual_ns).s);
    f->fix = "Run the code once before recording: the first use of a library sets up workspaces "
             "and heuristics, which is not part of a steady run.";
    f->show = "steps %s";
    f->effort = EFFORT_ONE_LINE;
    f->blocked_ns = d->dead_ns - d->usual_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[d->label], d->label, "%s begins", f->subject);
    finding_note(f, cx->mem, cx->t->ts_ns[d->first_op], d->first_op,
                 "%s, its first operator, begins %s later", rule_row_name(cx, d->first_op, 60),
                 human_time(d->dead_ns).s);
    return 0;
}
