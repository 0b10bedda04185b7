/* exposed_copy.c: copies between host and device that no kernel overlaps, although on a stream of
 * their own they would run beside the kernels. */
#include "analyze/names/copy.h"
#include "analyze/rules/rule.h"
#include "analyze/simulate/pinned_speed.h"
#include "base/human.h"
#include "base/stats.h"

/* The longest copy over the bus on the busiest device, and the total time of all of them. */
static row_t longest_copy(const struct trace *t, const struct device_line *d, int64_t *ret_total_ns)
{
    row_t best = ROW_NONE;
    *ret_total_ns = 0;
    for (uint32_t i = 0; d && i < d->n_work; i++) {
        row_t r = d->work[i];
        if (!copy_crosses(copy_of(t, r))) continue;
        *ret_total_ns += t->dur_ns[r];
        if (best == ROW_NONE || t->dur_ns[r] > t->dur_ns[best]) best = r;
    }
    return best;
}

static int report_copies(const struct context *cx, row_t longest, int64_t total_ns,
                         struct findings *out, struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    double share = stats_pct(wall_of(cx)->parts.copy_ns, wall_of(cx)->wall_ns);
    if (share < cx->th.value[TH_COPY_SHARE_PCT] || wall_of(cx)->parts.kernel_ns <= 0) return 0;
    int64_t total;
    row_t longest =
        longest_copy(cx->t, timeline_device(timeline_of(cx), wall_of(cx)->parts.device), &total);
    return longest == ROW_NONE ? 0 : report_copies(cx, longest, total, out, e);
}

const struct rule rule_exposed_copy = {
    .id = "exposed_copy",
    .summary = "copies between host and device do not overlap with kernels",
    .run = run,
};

static int report_copies(const struct context *cx, row_t longest, int64_t total_ns,
                         struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_exposed_copy, e);
    if (!f) return ERR_NOMEM;
    row_t call = trace_launch_of(cx->t, longest);
    struct source_places *w = places_of(cx);
    if (call != ROW_NONE) {
        struct place p;
        source_places_find(w, call, &p);
        rule_place(cx, f, &p);
    }
    f->title = "copies do not overlap with kernels";
    f->why = rule_text(cx,
                       "The GPU spends %s copying, %s of it without a kernel running: copies and "
                       "kernels take turns on one stream.",
                       human_time(total_ns).s, human_time(wall_of(cx)->parts.copy_ns).s);
    f->fix = "Prefetch: copy the next batch or the next layer's weights from pinned memory on a "
             "side stream, and let the compute stream wait for the copy (wait_stream or an event) "
             "just before use.";
    f->not_fixed = "A copy cannot be faster than the bus: if copying takes longer than computing, "
                   "only moving fewer bytes helps.";
    f->show = "gaps %s";
    f->blocked_ns = total_ns;
    f->exposed_ns = wall_of(cx)->parts.copy_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[longest], longest, "%s takes %s",
                 rule_name(cx, trace_name(cx->t, longest), 60),
                 human_time(cx->t->dur_ns[longest]).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_OVERLAP_COPIES, .factor = pinned_speed(cx->t).bytes_per_ns};
    f->thresholds[f->n_thresholds++] = TH_COPY_SHARE_PCT;
    return 0;
}
