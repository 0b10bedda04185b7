/* late_start.c: a run begins with work on the CPU (reading, decoding, tokenizing) that launches
 * nothing, and the GPU has its first work only then. Between two pieces of GPU work such time is a
 * gap (late_launch); before the first one it is in no gap. Only what is recorded whole, on the
 * thread that launches first, and only in a run of one or two steps: in a loop the first step waits
 * for what later steps do meanwhile. */
#include "analyze/device/driving_calls.h"
#include "analyze/findings/claims.h"
#include "analyze/names/host_cause.h"
#include "analyze/names/view_op.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* Shorter rows are part of launching. */
#define MOST_ROWS 64

/* The rows before the first launch that launch nothing themselves, longest name first. */
struct start {
    row_t rows[MOST_ROWS];
    uint32_t n;
    row_t launch;
    int64_t first_work_ns;
};

static row_t first_launch(const struct context *cx, int64_t *ret_work_ns)
{
    row_t first = ROW_NONE;
    for (uint32_t d = 0; d < timeline_of(cx)->n_devices; d++) {
        const struct device_line *line = &timeline_of(cx)->devices[d];
        row_t work = line->n_work ? line->work[0] : ROW_NONE;
        if (work == ROW_NONE || (first != ROW_NONE && cx->t->ts_ns[work] >= *ret_work_ns)) continue;
        first = trace_launch_of(cx->t, work);
        *ret_work_ns = cx->t->ts_ns[work];
    }
    return first;
}

static bool is_quiet_row(const struct context *cx, const struct findings *out, row_t r)
{
    const struct trace *t = cx->t;
    if (claims_time(out, cx, t->lane[r], trace_span(t, r))) return false;
    if (t->dur_ns[r] < late_start_row_ns || t->flags[r] & ROW_PROFILER) return false;
    if (t->kind[r] != KIND_ANNOTATION && t->kind[r] != KIND_OP && t->kind[r] != KIND_PYTHON)
        return false;
    if (view_op_is(trace_name(t, r))) return false;
    return !driving_calls_has(driving_of(cx), r) && !driving_calls_elsewhere(driving_of(cx), r) &&
           !source_places_is_recorder(places_of(cx), r) &&
           host_causes_row(host_causes_of(cx), r) == HOST_OTHER;
}

/* Outermost rows only: what lies in one that was taken is passed over. What is before the wall
 * clock begins, with the first operator, label or call, costs nothing of it. */
static void late_start_find_rows(const struct context *cx, const struct findings *out,
                                 struct start *s)
{
    const struct trace *t = cx->t;
    const struct lane *l = &t->lanes[t->lane[s->launch]];
    int64_t done = INT64_MIN;
    for (row_t r = l->begin; r < l->end && t->ts_ns[r] < s->first_work_ns; r++) {
        if (t->ts_ns[r] < done || trace_end_ns(t, r) > s->first_work_ns) continue;
        if (t->ts_ns[r] < model_of(cx)->begin_ns) continue;
        if (!is_quiet_row(cx, out, r)) continue;
        done = trace_end_ns(t, r);
        if (s->n < MOST_ROWS) s->rows[s->n++] = r;
    }
}

/* Keeps the rows of the name that takes longest. */
static int64_t late_start_keep_longest(const struct trace *t, struct start *s)
{
    str_id best = STR_NONE;
    int64_t most = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t ns = 0;
        for (uint32_t k = 0; k < s->n; k++)
            if (t->name[s->rows[k]] == t->name[s->rows[i]]) ns += t->dur_ns[s->rows[k]];
        if (ns <= most) continue;
        most = ns;
        best = t->name[s->rows[i]];
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (t->name[s->rows[i]] == best) s->rows[n++] = s->rows[i];
    s->n = n;
    return most;
}

static int late_start_report(const struct context *cx, const struct start *s, int64_t ns,
                             struct findings *out, struct err *e);

static int late_start_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct start s = {.n = 0};
    if (steps_of(cx)->n_steps > late_start_steps) return 0;
    s.launch = first_launch(cx, &s.first_work_ns);
    if (s.launch == ROW_NONE) return 0;
    late_start_find_rows(cx, out, &s);
    int64_t ns = late_start_keep_longest(cx->t, &s);
    double least = (double)wall_of(cx)->wall_ns * cx->th.value[TH_MEDIUM_GAIN_PCT] / 100;
    return ns && (double)ns >= least ? late_start_report(cx, &s, ns, out, e) : 0;
}

const struct rule rule_late_start = {
    .id = "late_start",
    .summary = "work on the CPU comes before the first work of the GPU",
    .limit = LIMIT_CPU,
    .yields_to = RULE_LIST(&rule_made_on_cpu),
    .run = late_start_run,
};

static int late_start_report(const struct context *cx, const struct start *s, int64_t ns,
                             struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    struct finding *f = rule_finding(cx, out, &rule_late_start, e);
    row_t *rows = arena_alloc(cx->mem, s->n * sizeof *rows);
    if (!f || !rows) return err_nomem(e);
    memcpy(rows, s->rows, s->n * sizeof *rows);
    struct place p;
    source_places_find(places_of(cx), rows[0], &p);
    rule_place(cx, f, &p);
    if (t->kind[rows[0]] != KIND_PYTHON) f->subject = rule_row_name(cx, rows[0], 80);
    f->title = "the GPU starts late";
    f->why =
        rule_text(cx,
                  "The GPU has its first work %s after the start, of %s in total; %s of that is "
                  "%s, which launches nothing.",
                  human_time(s->first_work_ns - wall_of(cx)->begin_ns).s,
                  human_time(wall_of(cx)->wall_ns).s, human_time(ns).s, f->subject);
    f->fix = "Prepare the next input in another thread or process while the GPU computes "
             "(a DataLoader with workers), do it on the GPU, or cache its result.";
    f->not_fixed = "The first input of a run is still prepared before the GPU has work.";
    f->show = "stages %s";
    f->blocked_ns = f->exposed_ns = ns;
    for (uint32_t i = 0; i < s->n; i++)
        finding_note(f, cx->mem, t->ts_ns[rows[i]], rows[i], "%s takes %s before the first launch",
                     rule_row_name(cx, rows[i], 80), human_time(t->dur_ns[rows[i]]).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_ROWS, .rows = rows, .n_rows = s->n};
    f->thresholds[f->n_thresholds++] = TH_MEDIUM_GAIN_PCT;
    return 0;
}
