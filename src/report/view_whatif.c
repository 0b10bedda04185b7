/* view_whatif.c: see view_whatif.h. The replay error comes first: a forecast is only as good as the
 * replay. */
#include "report/view_whatif.h"

#include <math.h>
#include <stdio.h>

#include "base/human.h"
#include "base/jout.h"
#include "base/stats.h"
#include "base/text.h"
#include "report/view_part.h"
#include "report/view_quality.h"

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

static void json_edits(struct jout *j, const struct view_whatif *v)
{
    jout_arr(j, "edits");
    for (uint32_t i = 0; i < v->n_edits; i++) {
        jout_obj(j, NULL);
        jout_cstr(j, "kind", edit_name(v->edits[i].kind));
        jout_cstr(j, "what", v->words[i]);
        jout_uint(j, "matched", v->edits[i].n_matched);
        jout_bool(j, "sync_inside", v->edits[i].crosses_sync);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_forecast(struct jout *j, const struct view_whatif *v)
{
    const struct forecast *f = v->f;
    if (!f) {
        static const char *const keys[] = {"predicted_us",       "predicted_gain_us",
                                           "predicted_gain_pct", "predicted_for",
                                           "as_traced",          "without_profiler"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) jout_null(j, keys[i]);
        return;
    }
    int64_t before = v->undistorted ? f->before_ns : f->traced_before_ns;
    int64_t after = v->undistorted ? f->after_ns : f->traced_after_ns;
    jout_us(j, "predicted_us", after);
    jout_us(j, "predicted_gain_us", before - after);
    jout_num(j, "predicted_gain_pct", stats_pct(before - after, before), 3);
    jout_cstr(j, "predicted_for", v->undistorted ? "without_profiler" : "as_traced");
    jout_obj(j, "as_traced");
    jout_us(j, "before_us", f->traced_before_ns);
    jout_us(j, "after_us", f->traced_after_ns);
    jout_num(j, "gain_pct",
             stats_pct(f->traced_before_ns - f->traced_after_ns, f->traced_before_ns), 3);
    jout_end_obj(j);
    jout_obj(j, "without_profiler");
    jout_us(j, "before_us", f->before_ns);
    jout_us(j, "after_us", f->after_ns);
    jout_num(j, "gain_pct", f->gain_pct, 3);
    jout_num(j, "low_pct", f->low_pct, 3);
    jout_num(j, "high_pct", f->high_pct, 3);
    jout_end_obj(j);
}

static void json_cost(struct jout *j, const struct undistort *u)
{
    jout_obj(j, "profiler_cost");
    jout_num(j, "per_launch_us", u->launch_ns / 1e3, 3);
    jout_num(j, "per_op_us", u->op_ns / 1e3, 3);
    jout_num(j, "per_python_call_us", u->python_ns / 1e3, 3);
    jout_num(j, "scale", u->scale, 3);
    jout_num(j, "cpu_scale", u->cpu_scale, 3);
    jout_num(j, "time_scale", u->time_scale, 3);
    jout_bool(j, "fitted", u->given_ns > 0);
    if (u->given_ns > 0) jout_us(j, "given_wall_us", u->given_ns);
    else jout_null(j, "given_wall_us");
    jout_end_obj(j);
}

void view_whatif_json(struct buf *out, const struct view_whatif *v)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_us(&j, "traced_us", v->u->traced_ns);
    jout_us(&j, "replayed_us", v->u->replayed_ns);
    jout_num(&j, "replay_error_pct", undistort_error_pct(v->u), 4);
    jout_us(&j, "undistorted_us", v->u->plain_ns);
    jout_num(&j, "clock_drop_pct", v->clock_drop_pct, 2);
    json_forecast(&j, v);
    json_cost(&j, v->u);
    json_edits(&j, v);
    view_quality_json(&j, "trace_quality", v->t, v->integrity);
    jout_end_obj(&j);
}

/* Five digits, in ms: a change of a tenth of a percent must show. */
static struct human ms(int64_t ns)
{
    double v = (double)ns / 1e6;
    struct human h;
    snprintf(h.s, sizeof h.s, "%.*f", v >= 1000 ? 1 : v >= 100 ? 2 : v >= 10 ? 3 : 4, v);
    return h;
}

/* "  as traced        40.951 -> 40.502 ms   -1.1 %   note" */
static void text_line(struct buf *out, const char *label, int64_t before, int64_t after)
{
    double pct = -stats_pct(before - after, before);
    buf_printf(out, "    %-16s %8s -> %8s ms  %+6.1f %%", label, ms(before).s, ms(after).s,
               fabs(pct) < 0.05 ? 0.0 : pct);
}

static void text_edits(struct buf *out, const struct view_whatif *v)
{
    for (uint32_t i = 0; i < v->n_edits; i++) {
        const struct sim_edit *ed = &v->edits[i];
        char cut[160];
        buf_printf(out, "  %s (%s matched)%s\n", human_cut(str_c(v->words[i]), 80, cut, sizeof cut),
                   human_count(ed->n_matched).s,
                   ed->crosses_sync
                       ? ":\n    it becomes several graphs, because a wait, an allocation "
                         "or a pageable copy inside it cannot be captured"
                       : "");
    }
}

static void text_forecast(struct buf *out, const struct view_whatif *v, bool color)
{
    const struct forecast *f = v->f;
    double traced = stats_pct(f->traced_before_ns - f->traced_after_ns, f->traced_before_ns);
    text_line(out, "as traced", f->traced_before_ns, f->traced_after_ns);
    bool changed = fabs(traced - f->gain_pct) > 3;
    if (changed) buf_adds(out, "  the profiler changes the critical path");
    buf_addc(out, '\n');
    text_line(out, "without profiler", f->before_ns, f->after_ns);
    buf_printf(out, "  range %+.1f ... %+.1f %%", -f->low_pct, -f->high_pct);
    if (changed) text_styled(out, TEXT_YELLOW, color, "  <- believe this one");
    buf_addc(out, '\n');
}

void view_whatif_text(struct buf *out, const struct view_whatif *v, bool color)
{
    const struct undistort *u = v->u;
    view_part_text(out, v->t);
    buf_printf(out, "  replay %s -> %s ms, error %.2f %%", ms(u->traced_ns).s, ms(u->replayed_ns).s,
               fabs(undistort_error_pct(u)));
    buf_printf(out, "; profiler %s: %.1f us/launch, %.1f us/op",
               u->given_ns > 0 ? "fitted" : "estimated", u->launch_ns / 1e3, u->op_ns / 1e3);
    if (u->given_ns > 0 && fabs(u->cpu_scale - 1) > 0.01)
        buf_printf(out, ", CPU x%.2f", u->cpu_scale);
    if (u->given_ns > 0 && fabs(u->time_scale - 1) > 0.01)
        buf_printf(out, ", all times x%.2f", u->time_scale);
    buf_addc(out, '\n');
    if (v->clock_drop_pct > 0)
        buf_printf(out,
                   "  kernels get %.0f %% slower over the trace: at its power limit the GPU loses "
                   "part of any gain\n",
                   v->clock_drop_pct);
    if (!v->f) {
        buf_printf(out, "  without the profiler about %s\n\n", human_time(u->plain_ns).s);
        buf_adds(out, "next: strata whatif TRACE --drop-sync SITE | --drop-cpu REGEX | "
                      "--cuda-graph STAGE | ...\n");
        return;
    }
    text_edits(out, v);
    text_forecast(out, v, color);
    if (fabs(undistort_error_pct(u)) > threshold_default(TH_REPLAY_ERROR_PCT))
        text_styled(out, TEXT_YELLOW, color,
                    "    the replay misses the trace by too much: do not trust the change\n");
    if (u->given_ns == 0)
        buf_adds(out, "\nnext: --wall MS (the wall time without a profiler) replaces the "
                      "estimated cost with a fitted one\n");
}
