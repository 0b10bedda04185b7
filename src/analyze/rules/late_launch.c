/* late_launch.c: the device is idle while the CPU runs code that launches nothing: a walk over
 * modules, a progress bar, a cache lookup, an allocation. The idle time is charged to whole calls
 * (gaps/launchless), so that the prediction is for removing the call. Syncs have a rule of their
 * own. */
#include "analyze/findings/claims.h"
#include "analyze/launches/launches.h"
#include "analyze/names/host_cause.h"
#include "analyze/names/program.h"
#include "analyze/names/view_op.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

struct words {
    const char *title, *why, *fix;
};

static const struct words python = {
    "Python stalls the GPU", "Nothing is launched while this runs, and the GPU is idle.",
    "Move it out of the loop, cache its result, or run it while the GPU has queued work."};
static const struct words lookup = {
    "torch.compile guard checks stall the GPU",
    "The guards of a compiled region are checked before every call; with nothing queued, the GPU "
    "waits for them.",
    "Compile larger regions (fewer lookups), keep shapes and modules static (fewer guards)."};
static const struct words op = {
    "a CPU-only operator stalls the GPU",
    "The CPU works inside this operator without launching anything, and the GPU is idle.",
    "Do it once before the loop, or on the GPU."};
static const struct words call = {
    "a runtime call stalls the GPU",
    "The CPU is inside this runtime or driver call, and the GPU is idle.",
    "Make it happen once, before the loop. New shapes or modules load code and create handles "
    "again."};
static const struct words label = {
    "a CPU-only stage stalls the GPU",
    "Nothing is launched while this stage runs, and the GPU is idle.",
    "Move it out of the loop, make it cheaper, or run it while the GPU has queued work."};

static const struct words *late_launch_words_for(const struct trace *t, row_t r)
{
    struct str name = trace_name(t, r);
    if (str_has(name, "Dynamo") && str_has(name, "Lookup")) return &lookup;
    if (t->kind[r] == KIND_PYTHON) return &python;
    if (t->kind[r] == KIND_RUNTIME || t->kind[r] == KIND_DRIVER) return &call;
    return t->kind[r] == KIND_ANNOTATION ? &label : &op;
}

/* How long a call takes that stands out, by what the commonest launching call costs here: the CPU,
 * the driver and the profiler of the trace are in that. 0 where no call launches. */
static int64_t late_launch_least_call_ns(const struct context *cx)
{
    const struct launches *l = launches_of(cx);
    const struct call_cost *most = NULL;
    for (uint32_t i = 0; i < l->n_calls; i++) {
        const struct call_cost *c = &l->calls[i];
        if (call_launches(c->kind) && (!most || c->cost.n > most->cost.n)) most = c;
    }
    return most ? late_launch_call_launches * most->cost.median_ns : 0;
}

/* Many short calls between launches are not one thing to fix: there are too many launches (rule
 * launch_bound). Here most of the time has to be in calls long enough to look at. */
static bool is_one_thing(const struct context *cx, const struct launchless_group *g)
{
    const struct trace *t = cx->t;
    int64_t least = late_launch_least_call_ns(cx);
    if (late_launch_words_for(t, g->longest) == &lookup) return true;
    int64_t in_long = 0;
    for (uint32_t i = 0; i < g->n_rows; i++)
        if (t->dur_ns[g->rows[i]] >= least) in_long += t->dur_ns[g->rows[i]];
    return in_long > g->cpu_ns / 2;
}

/* Time spent allocating memory belongs to rule allocation_in_loop. */
static bool is_allocation(const struct context *cx, row_t top)
{
    const struct trace *t = cx->t;
    row_t end = t->lanes[t->lane[top]].end;
    for (row_t r = top; r < end && t->ts_ns[r] < trace_end_ns(t, top); r++)
        if (call_allocates(calls_kind(calls_of(cx), t, r)) && t->dur_ns[r] * 2 > t->dur_ns[top])
            return true;
    return false;
}

/* Waiting for data, collecting garbage and compiling have rules of their own: is it one of them, or
 * inside one, or is most of it one? */
static bool has_own_rule(const struct context *cx, row_t top)
{
    const struct trace *t = cx->t;
    const struct host_causes *causes = host_causes_of(cx);
    if (host_causes_around(causes, top) != ROW_NONE) return true;
    row_t end = t->lanes[t->lane[top]].end;
    int64_t ns = 0, covered = INT64_MIN;
    for (row_t r = top; r < end && t->ts_ns[r] < trace_end_ns(t, top); r++)
        if (host_causes_row(causes, r) != HOST_OTHER)
            ns += span_uncovered(&covered, (struct span){t->ts_ns[r], trace_end_ns(t, r)});
    return 2 * ns > t->dur_ns[top];
}

static bool has_samples(const struct context *cx, const struct launchless_group *g)
{
    return cx->t->kind[g->longest] != KIND_PYTHON ||
           g->cpu_ns >= late_launch_samples * integrity_of(cx)->recording.sample_ns;
}

/* What happens in one step of many, or takes long only once, is warm-up or an accident: it does not
 * come back in the loop. */
static bool happens_once(const struct context *cx, const struct launchless_group *g)
{
    if (steps_of(cx)->n_steps <= 2) return false;
    int64_t others = g->cpu_ns - cx->t->dur_ns[g->longest];
    return g->n_steps < 2 || (g->n_rows > 2 && others < g->cpu_ns / 4);
}

static bool late_launch_is_finding(const struct context *cx, const struct launchless_group *g)
{
    struct str name = trace_name(cx->t, g->longest);
    if (view_op_is(name) || program_is_jax_runtime(name)) return false;
    return !happens_once(cx, g) && has_samples(cx, g) && is_one_thing(cx, g) &&
           !is_allocation(cx, g->longest) && !has_own_rule(cx, g->longest);
}

/* Whether it is a part of what a function does, which is reported as a whole. */
static bool late_launch_is_told(const struct context *cx, const struct launchless_group *g,
                                const struct findings *out)
{
    const struct trace *t = cx->t;
    int64_t ns = 0;
    for (uint32_t i = 0; i < g->n_rows; i++) {
        struct span s = {t->ts_ns[g->rows[i]], trace_end_ns(t, g->rows[i])};
        if (claims_time(out, cx, t->lane[g->rows[i]], s)) ns += span_ns(s);
    }
    return 2 * ns > g->cpu_ns;
}

static int late_launch_report_group(const struct context *cx, const struct launchless_group *g,
                                    struct findings *out, struct err *e);

static int late_launch_run(const struct context *cx, struct findings *out, struct err *e)
{
    int64_t least = rule_least_idle_ns(cx);
    for (uint32_t i = 0; i < launchless_of(cx)->n_groups; i++) {
        const struct launchless_group *g = &launchless_of(cx)->groups[i];
        if (g->idle_ns >= least && late_launch_is_finding(cx, g) &&
            !late_launch_is_told(cx, g, out))
            TRY(late_launch_report_group(cx, g, out, e));
    }
    return 0;
}

const struct rule rule_late_launch = {
    .id = "late_launch",
    .summary = "the GPU is idle while the CPU runs code that launches nothing",
    .limit = LIMIT_CPU,
    .yields_to = RULE_LIST(&rule_host_function, &rule_lock_wait),
    .run = late_launch_run,
};

/* The place is a line of the user's code; what is slow there has its own name, unless it is that
 * very function. */
static const char *late_launch_subject(const struct context *cx, struct source_places *w,
                                       const struct launchless_group *g, const struct finding *f)
{
    const struct trace *t = cx->t;
    if (t->kind[g->blamed] != KIND_PYTHON) return rule_name(cx, trace_str(t, g->name), 80);
    if (f->function && source_places_class(w, g->blamed) == FRAME_USER) return f->function;
    struct buf text;
    buf_init(&text);
    source_places_print_call(t, g->blamed, &text);
    const char *name = rule_name(cx, str_c(buf_c(&text)), 80);
    buf_done(&text);
    return name;
}

static int late_launch_report_group(const struct context *cx, const struct launchless_group *g,
                                    struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    const struct words *w = late_launch_words_for(t, g->longest);
    struct finding *f = rule_finding(cx, out, &rule_late_launch, e);
    struct source_places *where = places_of(cx);
    if (!f) return ERR_NOMEM;
    struct place p;
    source_places_find(where, g->blamed, &p);
    rule_place(cx, f, &p);
    f->subject = late_launch_subject(cx, where, g, f);
    f->title = w->title;
    f->why = w->why;
    f->fix = w->fix;
    f->not_fixed =
        "The time it takes while the GPU has queued work costs nothing and is not counted.";
    f->show = "gaps %s";
    f->blocked_ns = g->cpu_ns;
    f->exposed_ns = g->idle_ns;
    const char *name = rule_name(cx, trace_str(t, g->name), 80);
    if (g->n_rows == 1)
        finding_note(f, cx->mem, t->ts_ns[g->longest], g->longest, "%s takes %s in one call", name,
                     human_time(g->cpu_ns).s);
    else
        finding_note(f, cx->mem, t->ts_ns[g->longest], g->longest,
                     "%s takes %s in %s calls, at most %s per call", name, human_time(g->cpu_ns).s,
                     human_count(g->n_rows).s, human_time(t->dur_ns[g->longest]).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "nothing is launched inside it; the GPU is idle for %s of that time",
                 human_time(g->idle_ns).s);
    if (g->n_steps > 1)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "it recurs in %s of %s steps",
                     human_count(g->n_steps).s, human_count(steps_of(cx)->n_steps).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_ROWS, .rows = g->rows, .n_rows = g->n_rows};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    f->thresholds[f->n_thresholds++] = TH_GAP_US;
    return 0;
}
