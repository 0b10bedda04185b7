/* pageable_copy.c: copies between ordinary (pageable) memory and the device. The driver stages them
 * through a buffer of its own, slowly, and holds the CPU meanwhile; pinned memory does neither. */
#include "analyze/rules/rule.h"
#include "base/human.h"

/* Smaller copies are constants: rule sync_in_loop. */
#define LEAST_BYTES 65536

struct copies {
    int64_t bytes, ns, pinned_ns, longest_ns;
    uint32_t n;
    row_t longest;
};

static struct copies add_up(const struct trace *t)
{
    struct copies c = {.longest = ROW_NONE};
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct gpu_info *g = t->kind[r] == KIND_MEMCPY ? trace_gpu(t, r) : NULL;
        if (!g || g->bytes < LEAST_BYTES) continue;
        struct str name = trace_name(t, r);
        if (str_has(name, "Pageable")) {
            c.n++;
            c.bytes += g->bytes;
            c.ns += t->dur_ns[r];
            if (t->dur_ns[r] > c.longest_ns) {
                c.longest_ns = t->dur_ns[r];
                c.longest = r;
            }
        } else if (str_has(name, "Pinned")) {
            c.pinned_ns += t->dur_ns[r];
        }
    }
    return c;
}

static int report_copies(const struct analysis *a, const struct copies *c, struct findings *out,
                         struct err *e);

static int run(const struct analysis *a, struct findings *out, struct err *e)
{
    struct copies c = add_up(a->t);
    double share = a->wall_ns > 0 ? 100.0 * (double)c.ns / (double)a->wall_ns : 0;
    return c.n && share >= a->th.value[TH_REPORT_GAIN_PCT] ? report_copies(a, &c, out, e) : 0;
}

const struct rule rule_pageable_copy = {
    .id = "pageable_copy",
    .summary = "copies of ordinary memory hold up the CPU and run slowly",
    .run = run,
};

static int64_t blocked_by_copies(const struct syncs *s)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < s->n_sites; i++)
        if (s->sites[i].kind == WAIT_COPY) ns += s->sites[i].blocked_ns;
    return ns;
}

static int report_copies(const struct analysis *a, const struct copies *c, struct findings *out,
                         struct err *e)
{
    struct finding *f = rule_finding(a, out, &rule_pageable_copy, e);
    if (!f) return ERR_NOMEM;
    double speed = rule_pinned_speed(a), now = (double)c->bytes / (double)c->ns;
    row_t call = trace_launch_of(a->t, c->longest);
    struct source_places w;
    TRY(source_places_init(&w, a->t, e));
    if (call != ROW_NONE) {
        struct place p;
        source_places_find(&w, call, &p);
        rule_place(a, f, &p);
    }
    source_places_done(&w);
    f->title = "copies of ordinary memory";
    f->why = rule_text(a,
                       "%s in %u copies go through the driver's staging buffer at %.1f GB/s, with "
                       "the CPU standing by.",
                       human_bytes(c->bytes).s, c->n, now);
    f->fix = "Keep the host tensors pinned (pin_memory(), DataLoader(pin_memory=True)) and copy "
             "with non_blocking=True; "
             "overlap the copy with compute on a side stream.";
    f->not_fixed = rule_text(
        a, "Predicted for %.1f GB/s (%s); a copy that nothing overlaps still takes its time.",
        speed,
        c->pinned_ns > 0 ? "seen for pinned memory in this trace"
                         : "assumed for pinned memory; --pin-copies of whatif sets it");
    f->show = "whatif %s --pin-copies 0";
    f->blocked_ns = blocked_by_copies(&a->syncs);
    f->exposed_ns = a->parts.copy_ns;
    finding_note(f, a->mem, a->t->ts_ns[c->longest], c->longest, "%s: %s in %s",
                 rule_name(a, trace_name(a->t, c->longest), 60),
                 human_bytes(trace_gpu(a->t, c->longest)->bytes).s, human_time(c->longest_ns).s);
    finding_note(f, a->mem, ID_NONE, ROW_NONE,
                 "copies that no kernel hides take %s of the wall clock",
                 human_time(a->parts.copy_ns).s);
    f->edits[f->n_edits++] = (struct sim_edit){.kind = EDIT_PIN_COPIES, .factor = speed};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
