/* view_whatif.c: see views_compare.h. The prediction comes first, how it was made last. */
#include "report/compare/views_compare.h"

#include <math.h>
#include <stdio.h>

#include "base/human.h"
#include "base/stats.h"
#include "base/text.h"
#include "report/diagnosis/view_excerpt.h"
#include "results/result_json.h"
#include "results/results.h"

static const char *edit_name(enum sim_edit_kind k)
{
    static const char *const names[] = {
        [EDIT_DROP_SYNC] = "drop_sync",       [EDIT_DROP_CPU] = "drop_cpu",
        [EDIT_DROP_ROWS] = "drop_rows",       [EDIT_DROP_SPANS] = "drop_spans",
        [EDIT_SCALE_SPANS] = "scale_spans",   [EDIT_SCALE_CPU] = "scale_cpu",
        [EDIT_SCALE_KERNEL] = "scale_kernel", [EDIT_DROP_KERNEL] = "drop_kernel",
        [EDIT_CUDA_GRAPH] = "cuda_graph",     [EDIT_COMPILE] = "compile",
        [EDIT_PIN_COPIES] = "pin_copies",     [EDIT_OVERLAP_COPIES] = "overlap_copies",
    };
    return names[k];
}

static const struct view_whatif *whatif_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct forecast *forecast_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const char *whatif_edit_word(const struct rows *r, uint32_t i)
{
    return ((const struct view_whatif *)r->with)->words[i];
}

VALUE_OF(edit_kind, value_cstr(edit_name(((const struct sim_edit *)rows_at(r, i))->kind)))
VALUE_OF(edit_what, value_cstr(whatif_edit_word(r, i)))
VALUE_OF(traced_gain, value_num(stats_pct(forecast_at(r, i)->traced_before_ns -
                                              forecast_at(r, i)->traced_after_ns,
                                          forecast_at(r, i)->traced_before_ns)))
VALUE_OF(cost_fitted, value_int(((const struct undistort *)rows_at(r, i))->given_ns > 0))
VALUE_OF(whatif_traced, value_int(whatif_at(r, i)->u->traced_ns))
VALUE_OF(whatif_replayed, value_int(whatif_at(r, i)->u->replayed_ns))
VALUE_OF(whatif_error, value_num(undistort_error_pct(whatif_at(r, i)->u)))
VALUE_OF(whatif_plain, value_int(whatif_at(r, i)->u->plain_ns))
VALUE_OF(whatif_for, whatif_at(r, i)->f ? value_cstr("without_profiler") : value_none())
VALUE_OF(whatif_after, whatif_at(r, i)->f ? value_int(whatif_at(r, i)->f->after_ns) : value_none())
VALUE_OF(whatif_gain, whatif_at(r, i)->f
                          ? value_int(whatif_at(r, i)->f->before_ns - whatif_at(r, i)->f->after_ns)
                          : value_none())
VALUE_OF(whatif_gain_pct,
         whatif_at(r, i)->f ? value_num(whatif_at(r, i)->f->gain_pct) : value_none())
ROWS_OF(whatif_forecast, .list = whatif_at(r, i)->f, .n = whatif_at(r, i)->f != NULL)
ROWS_OF(whatif_cost, .list = whatif_at(r, i)->u, .n = 1)
ROWS_OF(whatif_edits, .list = whatif_at(r, i)->edits, .n = whatif_at(r, i)->n_edits,
        .with = whatif_at(r, i))

/* clang-format off */
static const struct field traced_fields[] = {
    FIELD(NS, "before_us", "", struct forecast, traced_before_ns, "the wall clock as traced"),
    FIELD(NS, "after_us", "", struct forecast, traced_after_ns, "the same after the edits"),
    FIELD_GET(PCT, "gain_pct", "", traced_gain, "the difference", .decimals = 3),
};
static const struct result result_traced = RESULT("as_traced", "the forecast for the trace itself", traced_fields, struct forecast);

static const struct field plain_fields[] = {
    FIELD(NS, "before_us", "", struct forecast, before_ns, "the wall clock without the profiler"),
    FIELD(NS, "after_us", "", struct forecast, after_ns, "the same after the edits"),
    FIELD(PCT, "gain_pct", "", struct forecast, gain_pct, "the difference", .decimals = 3),
    FIELD(PCT, "low_pct", "", struct forecast, low_pct, "with half the cost of recording", .decimals = 3),
    FIELD(PCT, "high_pct", "", struct forecast, high_pct, "with one and a half times that cost", .decimals = 3),
};
static const struct result result_plain = RESULT("without_profiler", "the forecast without the profiler", plain_fields, struct forecast);

static const struct field cost_fields[] = {
    FIELD(MEAN_NS, "per_launch_us", "", struct undistort, launch_ns, "what recording a launch costs", .decimals = 3),
    FIELD(MEAN_NS, "per_op_us", "", struct undistort, op_ns, "an operator", .decimals = 3),
    FIELD(MEAN_NS, "per_python_call_us", "", struct undistort, python_ns, "a call of a Python function", .decimals = 3),
    FIELD(NUM, "scale", "", struct undistort, scale, "factor of the usual costs; 1 unless fitted", .decimals = 3),
    FIELD(NUM, "cpu_scale", "", struct undistort, cpu_scale, "factor of all CPU time; 1 unless costs alone could not fit the wall clock", .decimals = 3),
    FIELD(NUM, "time_scale", "", struct undistort, time_scale, "factor of everything; 1 unless those two could not", .decimals = 3),
    FIELD_GET(FLAG, "fitted", "", cost_fitted, "to the given wall clock"),
    FIELD(NS, "given_wall_us", "", struct undistort, given_ns, "that wall clock", .null = NULL_ZERO),
};
static const struct result result_cost = RESULT("profiler_cost", "what recording costs", cost_fields, struct undistort);

static const struct field edit_fields[] = {
    FIELD_GET(WORD, "kind", "", edit_kind, "the option: `drop_sync`, `cuda_graph` and others"),
    FIELD_GET(TEXT, "what", "", edit_what, "as given"),
    FIELD(COUNT, "matched", "", struct sim_edit, n_matched, "rows, calls or instances that it changed"),
    FIELD(FLAG, "sync_inside", "", struct sim_edit, crosses_sync, "it becomes several graphs, because a wait or an allocation inside it cannot be captured"),
};
static const struct result result_edits = RESULT("edits", "what is changed", edit_fields, struct sim_edit);

static const struct field whatif_fields[] = {
    FIELD_GET(NS, "traced_us", "", whatif_traced, "the wall clock of the trace"),
    FIELD_GET(NS, "replayed_us", "", whatif_replayed, "its replay without changes"),
    FIELD_GET(PCT, "replay_error_pct", "", whatif_error, "how far that is off", .decimals = 4),
    FIELD_GET(NS, "undistorted_us", "", whatif_plain, "the replay without the profiler"),
    FIELD(PCT, "clock_drop_pct", "", struct view_whatif, clock_drop_pct, "how much slower kernels get over the trace", .decimals = 2),
    FIELD_GET(NS, "predicted_us", "", whatif_after, "the wall clock after the edits; null if nothing is changed", .null = NULL_SOMETIMES),
    FIELD_GET(NS, "predicted_gain_us", "", whatif_gain, "what they gain", .null = NULL_SOMETIMES),
    FIELD_GET(PCT, "predicted_gain_pct", "", whatif_gain_pct, "the same as a share", .decimals = 3),
    FIELD_GET(WORD, "predicted_for", "", whatif_for, "`without_profiler`", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "as_traced", "", &result_traced, whatif_forecast, "the forecast for the trace itself", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "without_profiler", "", &result_plain, whatif_forecast, "the forecast without the profiler", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "profiler_cost", "", &result_cost, whatif_cost, "what recording costs, and how it was fitted"),
    FIELD_IN(LIST, "edits", "", &result_edits, whatif_edits, "what is changed"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_whatif =
    RESULT("whatif", "what a change would gain", whatif_fields, struct view_whatif);

void view_whatif_json(struct jout *j, const struct view_whatif *v)
{
    document_json(j, NULL, v->cx, &document_whatif, v, NULL);
}

/* Five digits, in ms: a change of a tenth of a percent must show. */
static struct human view_whatif_ms(int64_t ns)
{
    double v = (double)ns / 1e6;
    struct human h;
    snprintf(h.s, sizeof h.s, "%.*f", v >= 1000 ? 1 : v >= 100 ? 2 : v >= 10 ? 3 : 4, v);
    return h;
}

/* A change that rounds to nothing is said in words: "+0.0 %" reads as a figure. */
static void view_whatif_change(struct buf *out, double gain_pct)
{
    if (fabs(gain_pct) < 0.05) buf_adds(out, "no change (below 0.05 %)");
    else buf_printf(out, "%+.1f %%", -gain_pct);
}

/* What has to be known about a CUDA graph. */
static const char *view_whatif_note(const struct sim_edit *ed)
{
    if (ed->has_graphs)
        return ":\n    CUDA graphs launch work in it already, which gains nothing again";
    if (ed->crosses_sync)
        return ":\n    it becomes several graphs, because a wait, an allocation or a pageable copy "
               "inside it cannot\n    be captured";
    return "";
}

static void text_edits(struct buf *out, const struct view_whatif *v)
{
    for (uint32_t i = 0; i < v->n_edits; i++) {
        const struct sim_edit *ed = &v->edits[i];
        char cut[160];
        buf_printf(out, "  %s (%s matched)%s\n", human_cut(str_c(v->words[i]), 80, cut, sizeof cut),
                   human_count(ed->n_matched).s, view_whatif_note(ed));
    }
}

/* "  38.115 -> 29.782 ms   -21.9 %, likely -20.1 to -22.4 %": without the profiler; what the trace
 * itself would show only where that is another answer. */
static void view_whatif_forecast(struct buf *out, const struct view_whatif *v)
{
    const struct forecast *f = v->f;
    double traced = stats_pct(f->traced_before_ns - f->traced_after_ns, f->traced_before_ns);
    buf_printf(out, "  %s -> %s ms   ", view_whatif_ms(f->before_ns).s,
               view_whatif_ms(f->after_ns).s);
    view_whatif_change(out, f->gain_pct);
    if (f->high_pct - f->low_pct >= 0.1)
        buf_printf(out, ", likely %+.1f to %+.1f %%",
                   (f->high_pct < 0 ? -f->high_pct : -f->low_pct) + 0.0,
                   (f->high_pct < 0 ? -f->low_pct : -f->high_pct) + 0.0);
    buf_adds(out, "   (without the profiler)\n");
    if (fabs(traced - f->gain_pct) <= 3) return;
    buf_printf(out, "  in the trace itself %s -> %s ms, ", view_whatif_ms(f->traced_before_ns).s,
               view_whatif_ms(f->traced_after_ns).s);
    view_whatif_change(out, traced);
    buf_adds(out, ": recording changes the critical path\n");
}

/* How the prediction was made. */
static void view_whatif_model(struct buf *out, const struct view_whatif *v)
{
    const struct undistort *u = v->u;
    buf_printf(out, "  model: replay %s -> %s ms, error %.2f %%", view_whatif_ms(u->traced_ns).s,
               view_whatif_ms(u->replayed_ns).s, fabs(undistort_error_pct(u)));
    buf_printf(out, "\n         profiler %s: %.1f us per launch, %.1f us per operator",
               u->given_ns > 0 ? "fitted" : "estimated", u->launch_ns / 1e3, u->op_ns / 1e3);
    if (u->given_ns > 0 && fabs(u->cpu_scale - 1) > 0.01)
        buf_printf(out, ", CPU x%.2f", u->cpu_scale);
    if (u->given_ns > 0 && fabs(u->time_scale - 1) > 0.01)
        buf_printf(out, ", all times x%.2f", u->time_scale);
    buf_addc(out, '\n');
}

void view_whatif_text(struct buf *out, const struct view_whatif *v, bool color)
{
    const struct undistort *u = v->u;
    view_excerpt_text(out, v->cx->t);
    if (v->f) view_whatif_forecast(out, v);
    else buf_printf(out, "  without the profiler about %s\n", human_time(u->plain_ns).s);
    text_edits(out, v);
    if (v->f && fabs(undistort_error_pct(u)) > threshold_default(TH_REPLAY_ERROR_PCT))
        text_styled(out, TEXT_YELLOW, color,
                    "  the replay misses the trace by too much: do not trust the change\n");
    if (v->clock_drop_pct > 0)
        buf_printf(out,
                   "  kernels get %.0f %% slower over the trace: at its power limit the GPU loses "
                   "part of any gain\n",
                   v->clock_drop_pct);
    view_whatif_model(out, v);
    if (!v->f)
        buf_adds(out, "\nnext: strata whatif TRACE --drop-sync SITE | --drop-cpu REGEX | "
                      "--cuda-graph STAGE | ...\n");
    else if (u->given_ns == 0)
        buf_adds(out, "\nnext: --wall MS (the wall time without a profiler) replaces the "
                      "estimated cost with a fitted one\n");
}
