/* pageable_copy.c: copies between pageable host memory and the device. The driver stages them
 * through a buffer of its own, which is slow and blocks the CPU; pinned memory avoids both. */
#include "analyze/findings/claims.h"
#include "analyze/findings/host_side.h"
#include "analyze/names/copy.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "analyze/simulate/pinned_speed.h"
#include "base/human.h"
#include "base/stats.h"

struct copies {
    int64_t bytes, ns, longest_ns;
    int64_t told_ns; /* of those that would be others: what is uploaded is made on the CPU */
    uint32_t n;
    row_t longest;
};

/* A copy of pageable memory, large enough to count. */
static bool pageable_copy_is(const struct trace *t, row_t r)
{
    const struct gpu_info *g = t->kind[r] == KIND_MEMCPY ? trace_gpu(t, r) : NULL;
    return g && g->bytes >= pageable_copy_bytes && copy_of(t, r).memory == MEMORY_PAGEABLE;
}

static struct copies pageable_copy_add_up(const struct context *cx, const struct findings *out)
{
    const struct trace *t = cx->t;
    struct copies c = {.longest = ROW_NONE};
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!pageable_copy_is(t, r)) continue;
        c.n++;
        c.bytes += trace_gpu(t, r)->bytes;
        c.ns += t->dur_ns[r];
        if (claims_kernel(out, cx, r)) c.told_ns += t->dur_ns[r];
        if (t->dur_ns[r] <= c.longest_ns) continue;
        c.longest_ns = t->dur_ns[r];
        c.longest = r;
    }
    return c;
}

static int pageable_copy_report_copies(const struct context *cx, const struct copies *c,
                                       struct findings *out, struct err *e);

static int pageable_copy_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct copies c = pageable_copy_add_up(cx, out);
    double share = stats_pct(c.ns, wall_of(cx)->wall_ns);
    /* Copies that take no time have no longest one and no rate. */
    if (2 * c.told_ns > c.ns) return 0;
    return c.longest != ROW_NONE && share >= cx->th.value[TH_REPORT_GAIN_PCT]
               ? pageable_copy_report_copies(cx, &c, out, e)
               : 0;
}

const struct rule rule_pageable_copy = {
    .id = "pageable_copy",
    .summary = "copies of pageable memory are slow and block the CPU",
    .limit = LIMIT_TRANSFER,
    .cost = COST_WAIT,
    .tries = "pinned_uploads",
    .yields_to = RULE_LIST(&rule_made_on_cpu),
    .run = pageable_copy_run,
};

/* How long they run on the busiest device and no kernel does. */
static int pageable_copy_exposed_by(const struct context *cx, int64_t *ret_ns, struct err *e)
{
    const struct device_line *d = timeline_device(timeline_of(cx), wall_of(cx)->parts.device);
    struct span_set copies;
    *ret_ns = 0;
    if (!d) return 0;
    if (exposure_begin(&copies, d->n_work, cx->mem) < 0) return err_nomem(e);
    for (uint32_t i = 0; i < d->n_work; i++)
        if (pageable_copy_is(cx->t, d->work[i]))
            copies.list[copies.n++] = trace_span(cx->t, d->work[i]);
    return exposure_copies(cx, &copies, ret_ns, e);
}

static int64_t blocked_by_copies(const struct syncs *s)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < s->n_sites; i++)
        if (s->sites[i].kind == WAIT_COPY) ns += s->sites[i].blocked_ns;
    return ns;
}

static int pageable_copy_report_copies(const struct context *cx, const struct copies *c,
                                       struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_pageable_copy, e);
    if (!f) return ERR_NOMEM;
    struct pinned_speed pinned = pinned_speed(cx->t);
    double now = (double)c->bytes / (double)c->ns;
    row_t call = trace_launch_of(cx->t, c->longest);
    struct source_places *w = places_of(cx);
    if (call != ROW_NONE) {
        struct place p;
        source_places_find(w, call, &p);
        rule_place(cx, f, &p);
    }
    f->title = "copies of pageable memory";
    f->why = rule_text(cx,
                       "%s in %s cop%s went through the driver's staging buffer at %.1f GB/s while "
                       "the CPU waited.",
                       human_bytes(c->bytes).s, human_count(c->n).s, c->n == 1 ? "y" : "ies", now);
    f->fix = "Pin the host tensors (pin_memory(), DataLoader(pin_memory=True)), copy them with "
             "non_blocking=True, and overlap the copy with compute on a side stream.";
    f->not_fixed = rule_text(
        cx,
        "The prediction assumes %.1f GB/s (%s); a copy that nothing overlaps still takes its time.",
        pinned.bytes_per_ns,
        pinned.seen ? "measured for pinned memory in this trace"
                    : "a guess for pinned memory; set it with whatif --pin-copies");
    f->show = "whatif %s --pin-copies 0";
    f->effort = EFFORT_ONE_LINE;
    f->blocked_ns = blocked_by_copies(syncs_of(cx));
    TRY(pageable_copy_exposed_by(cx, &f->exposed_ns, e));
    finding_note(f, cx->mem, cx->t->ts_ns[c->longest], c->longest, "%s moves %s in %s",
                 rule_row_name(cx, c->longest, 60),
                 human_bytes(trace_gpu(cx->t, c->longest)->bytes).s, human_time(c->longest_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "for %s of the wall clock they run and no kernel does",
                 human_time(f->exposed_ns).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_PIN_COPIES, .factor = pinned.bytes_per_ns};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
