/* exposed_copy.c: copies between host and device that no kernel overlaps, although on a stream of
 * their own they would run beside the kernels. */
#include "analyze/names/copy.h"
#include "analyze/rules/exposure.h"
#include "analyze/simulate/pinned_speed.h"
#include "base/human.h"
#include "base/stats.h"

struct copies {
    int64_t ns;         /* of copies that are in the way of kernels */
    int64_t exposed_ns; /* of it, when no kernel runs */
    row_t longest;
};

/* Pinned copies on a stream of their own run beside kernels already. If no kernel overlaps them, it
 * is because there is no kernel: the first batch, the last result, a full bus. */
static bool is_in_the_way(struct copy c, bool beside_kernels)
{
    return copy_crosses(c) && (beside_kernels || c.memory == MEMORY_PAGEABLE);
}

static void note_copy(const struct trace *t, row_t r, struct copies *c)
{
    if (c->longest == ROW_NONE || t->dur_ns[r] > t->dur_ns[c->longest]) c->longest = r;
}

static int find_copies(const struct context *cx, const struct device_line *d, struct copies *ret,
                       struct err *e)
{
    const struct trace *t = cx->t;
    struct span_set copies;
    uint8_t *computes = arena_zalloc(cx->mem, t->n_lanes + (size_t)1, 1); /* by lane */
    if (!computes || exposure_begin(&copies, d->n_work, cx->mem) < 0) return err_nomem(e);
    *ret = (struct copies){.longest = ROW_NONE};
    for (uint32_t i = 0; i < d->n_work; i++)
        if (t->kind[d->work[i]] == KIND_KERNEL) computes[t->lane[d->work[i]]] = 1;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        if (!is_in_the_way(copy_of(t, r), computes[t->lane[r]])) continue;
        copies.list[copies.n++] = trace_span(t, r);
        note_copy(t, r, ret);
    }
    TRY(exposure_copies(cx, &copies, &ret->exposed_ns, e));
    ret->ns = copies.before_ns[copies.n];
    return 0;
}

static int report_copies(const struct context *cx, const struct copies *c, struct findings *out,
                         struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct wall *w = wall_of(cx);
    const struct device_line *d = timeline_device(timeline_of(cx), w->parts.device);
    double least = cx->th.value[TH_COPY_SHARE_PCT];
    struct copies c;
    if (!d || w->parts.kernel_ns <= 0 || stats_pct(w->parts.copy_ns, w->wall_ns) < least) return 0;
    TRY(find_copies(cx, d, &c, e));
    return stats_pct(c.exposed_ns, w->wall_ns) < least ? 0 : report_copies(cx, &c, out, e);
}

const struct rule rule_exposed_copy = {
    .id = "exposed_copy",
    .summary = "copies between host and device do not overlap with kernels",
    .run = run,
};

static int report_copies(const struct context *cx, const struct copies *c, struct findings *out,
                         struct err *e)
{
    row_t longest = c->longest;
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
                       human_time(c->ns).s, human_time(c->exposed_ns).s);
    f->fix = "Prefetch: copy the next batch or the next layer's weights from pinned memory on a "
             "side stream, and let the compute stream wait for the copy (wait_stream or an event) "
             "just before use.";
    f->not_fixed = "A copy cannot be faster than the bus: if copying takes longer than computing, "
                   "only moving fewer bytes helps.";
    f->show = "gaps %s";
    f->effort = EFFORT_RESTRUCTURING;
    f->blocked_ns = c->ns;
    f->exposed_ns = c->exposed_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[longest], longest, "%s takes %s",
                 rule_name(cx, trace_name(cx->t, longest), 60),
                 human_time(cx->t->dur_ns[longest]).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_OVERLAP_COPIES, .factor = pinned_speed(cx->t).bytes_per_ns};
    f->thresholds[f->n_thresholds++] = TH_COPY_SHARE_PCT;
    return 0;
}
