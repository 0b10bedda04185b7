/* exposed_copy.c: copies between host and device that no kernel overlaps, although on a stream of
 * their own they would run beside the kernels. */
#include <string.h>

#include "analyze/findings/claims.h"
#include "analyze/findings/host_side.h"
#include "analyze/names/copy.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "analyze/simulate/pinned_speed.h"
#include "base/human.h"
#include "base/stats.h"

struct copies {
    int64_t ns;         /* of copies that are in the way of kernels */
    int64_t exposed_ns; /* of it, when no kernel runs */
    int64_t pinned_ns;  /* what they would take from pinned memory, as the replay assumes */
    int64_t down_ns;    /* of those that go to the host */
    double rate;        /* of pinned memory, in bytes per nanosecond */
    row_t longest;
};

/* Pinned copies on a stream of their own run beside kernels already. If no kernel overlaps them, it
 * is because there is no kernel: the first batch, the last result, a full bus. */
static bool is_in_the_way(struct copy c, bool beside_kernels)
{
    return copy_crosses(c) && (beside_kernels || c.memory == MEMORY_PAGEABLE);
}

/* A copy of pageable memory goes at the pinned rate once it runs ahead. */
static int64_t exposed_copy_saved_ns(const struct trace *t, row_t r, double rate)
{
    const struct gpu_info *g = trace_gpu(t, r);
    if (copy_of(t, r).memory != MEMORY_PAGEABLE || !g || g->bytes <= 0 || rate <= 0) return 0;
    int64_t saved = t->dur_ns[r] - (int64_t)((double)g->bytes / rate);
    return saved > 0 ? saved : 0;
}

static void note_copy(const struct trace *t, row_t r, struct copies *c)
{
    c->pinned_ns -= exposed_copy_saved_ns(t, r, c->rate);
    if (copy_of(t, r).way == COPY_TO_HOST) c->down_ns += t->dur_ns[r];
    if (c->longest == ROW_NONE || t->dur_ns[r] > t->dur_ns[c->longest]) c->longest = r;
}

/* Copies that would be others, because what they upload is made on the CPU, are left out. */
static int find_copies(const struct context *cx, const struct findings *out, struct copies *ret,
                       struct err *e)
{
    const struct device_line *d = timeline_device(timeline_of(cx), wall_of(cx)->parts.device);
    const struct trace *t = cx->t;
    struct span_set copies;
    uint8_t *computes = arena_zalloc(cx->mem, t->n_lanes + (size_t)1, 1); /* by lane */
    if (!computes || exposure_begin(&copies, d->n_work, cx->mem) < 0) return err_nomem(e);
    *ret = (struct copies){.longest = ROW_NONE, .rate = pinned_speed(t).bytes_per_ns};
    for (uint32_t i = 0; i < d->n_work; i++)
        if (t->kind[d->work[i]] == KIND_KERNEL) computes[t->lane[d->work[i]]] = 1;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        if (!is_in_the_way(copy_of(t, r), computes[t->lane[r]])) continue;
        if (claims_kernel(out, cx, r)) continue;
        copies.list[copies.n++] = trace_span(t, r);
        note_copy(t, r, ret);
    }
    TRY(exposure_copies(cx, &copies, &ret->exposed_ns, e));
    ret->ns = copies.before_ns[copies.n];
    ret->pinned_ns = ret->pinned_ns + ret->ns > 0 ? ret->pinned_ns + ret->ns : 0;
    return 0;
}

static int exposed_copy_report_copies(const struct context *cx, const struct copies *c,
                                      struct findings *out, struct err *e);

static int exposed_copy_run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct wall *w = wall_of(cx);
    const struct device_line *d = timeline_device(timeline_of(cx), w->parts.device);
    double least = cx->th.value[TH_COPY_SHARE_PCT];
    struct copies c;
    if (!d || w->parts.kernel_ns <= 0 || stats_pct(w->parts.copy_ns, w->wall_ns) < least) return 0;
    TRY(find_copies(cx, out, &c, e));
    /* A share of nothing is enough where the threshold is 0. */
    if (c.longest == ROW_NONE || stats_pct(c.exposed_ns, w->wall_ns) < least) return 0;
    return exposed_copy_report_copies(cx, &c, out, e);
}

const struct rule rule_exposed_copy = {
    .id = "exposed_copy",
    .summary = "copies between host and device do not overlap with kernels",
    .limit = LIMIT_TRANSFER,
    .cost = COST_TRANSFER,
    .yields_to = RULE_LIST(&rule_made_on_cpu),
    .run = exposed_copy_run,
};

/* Whether the memory makes a difference: the replay lets all of it be pinned. */
static bool exposed_copy_is_pageable(const struct copies *c)
{
    return (double)c->pinned_ns < exposed_copy_pinned_share * (double)c->ns;
}

/* What is slow today, and, where the memory is pageable, what it takes once it is pinned: the gain
 * after that of pinning is about the second time, the gain alone about both. */
static const char *exposed_copy_why(const struct context *cx, const struct copies *c)
{
    struct human pinned = human_time(c->pinned_ns), now = human_time(c->ns);
    struct human computing = human_time(wall_of(cx)->parts.kernel_ns);
    struct human exposed = human_time(c->exposed_ns);
    if (exposed_copy_is_pageable(c))
        return rule_text(
            cx,
            "The copies take %s (%s from pinned memory, at %.0f GB/s), and run between "
            "the kernels (%s) instead of beside them. The rate of pinned memory is "
            "part of the gain, unless a finding about pageable memory comes before "
            "this one.",
            now.s, pinned.s, c->rate, computing.s);
    return rule_text(cx,
                     "The GPU spends %s copying, %s of it without a kernel running, and %s "
                     "computing: copies and kernels take turns.",
                     now.s, strcmp(now.s, exposed.s) == 0 ? "all" : exposed.s, computing.s);
}

/* The edit that is priced comes first; where the bus then fills the time, what goes beyond it. */
static const char *exposed_copy_fix(const struct context *cx, const struct copies *c)
{
    const char *how =
        2 * c->down_ns > c->ns
            ? "Copy results to pinned memory on a side stream with non_blocking=True while the "
              "next kernels run, and read them after an event says that they are there."
            : "Prefetch: copy the next batch or the next layer's weights from pinned memory on a "
              "side stream, and let the compute stream wait for the copy (wait_stream or an event) "
              "just before use.";
    if (c->pinned_ns <= wall_of(cx)->parts.kernel_ns) return how;
    return rule_text(cx,
                     "%s The copies still take %s then, more than the computing, so copying less "
                     "gains further: keep on the GPU what fits (strata offload says what that "
                     "gains), and copy 16 or 8 bits per value.",
                     how, human_time(c->pinned_ns).s);
}

static int exposed_copy_report_copies(const struct context *cx, const struct copies *c,
                                      struct findings *out, struct err *e)
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
    f->why = exposed_copy_why(cx, c);
    f->fix = exposed_copy_fix(cx, c);
    f->not_fixed = "A copy cannot be faster than the bus: if copying takes longer than computing, "
                   "only moving fewer bytes helps.";
    f->show = "gaps %s";
    f->effort = EFFORT_RESTRUCTURING;
    f->blocked_ns = c->ns;
    f->exposed_ns = c->exposed_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[longest], longest, "%s takes %s",
                 rule_row_name(cx, longest, 60), human_time(cx->t->dur_ns[longest]).s);
    f->edits[f->n_edits++] = (struct sim_edit){.kind = EDIT_OVERLAP_COPIES, .factor = c->rate};
    f->thresholds[f->n_thresholds++] = TH_COPY_SHARE_PCT;
    return 0;
}
