/* consistency.c: see diff.h. One function per result; each looks only at what is there. */
#include "analyze/compare/diff.h"

#include <inttypes.h>

#include "analyze/answer/ladder.h"
#include "analyze/findings/rule.h"
#include "analyze/launches/launches.h"

/* Shares are doubles of integers: this much is rounding. */
#define ROUNDING_PCT 1e-6

struct checking {
    const struct context *cx;
    struct buf *out;
    uint32_t n;
};

static void consistency_must(struct checking *k, bool holds, const char *what, int64_t a, int64_t b)
{
    if (holds) return;
    k->n++;
    buf_printf(k->out, "%s: %" PRId64 " and %" PRId64 "\n", what, a, b);
}

static void consistency_at_most(struct checking *k, int64_t a, int64_t b, const char *what)
{
    consistency_must(k, a <= b, what, a, b);
}

static void consistency_equal(struct checking *k, int64_t a, int64_t b, const char *what)
{
    consistency_must(k, a == b, what, a, b);
}

static bool consistency_has(const struct checking *k, enum pass_id id)
{
    return k->cx->kept[id] != NULL;
}

static int64_t trace_ns(const struct trace *t)
{
    return t->end_ns - t->begin_ns;
}

/* ---- idle time ---- */

static void check_gaps(struct checking *k)
{
    const struct gaps *g = gaps_of(k->cx);
    for (uint32_t d = 0; d < g->n_devices; d++) {
        const struct gaps_device *x = &g->devices[d];
        int64_t causes = 0;
        for (uint32_t i = 0; i < g->n_causes; i++)
            causes += g->causes[i].device == d ? g->causes[i].idle_ns : 0;
        consistency_equal(k, x->busy_ns + x->idle_ns, span_ns(x->window),
                          "busy and idle are not the window");
        consistency_equal(k, causes, x->idle_ns, "causes of idle time do not add up to it");
        consistency_at_most(k, x->idle_ns, trace_ns(k->cx->t),
                            "a device is idle for longer than the trace");
        consistency_at_most(k, 0, x->before_ns, "a device works before the trace begins");
        consistency_at_most(k, 0, x->after_ns, "a device works after the trace ends");
        consistency_at_most(k, x->n_listed, x->n_gaps, "more gaps are listed than there are");
    }
    for (uint32_t i = 0; i < g->n_all; i++) {
        int64_t parts = 0;
        for (uint32_t p = 0; p < g->all[i].n_parts; p++) parts += g->all[i].parts[p].ns;
        consistency_equal(k, parts, idle_gap_ns(g->all[i].at),
                          "parts of a gap do not add up to it");
    }
}

static int64_t idle_of_all(const struct context *cx)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < idle_of(cx)->n; i++) sum += idle_of(cx)->of[i].total_ns;
    return sum;
}

/* ---- waits ---- */

static void check_exposed(struct checking *k)
{
    const struct waits *w = waits_of(k->cx);
    int64_t sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        int64_t ns = exposed_of(k->cx)->ns[i];
        sum += ns;
        consistency_at_most(k, 0, ns, "a wait exposes less than nothing");
    }
    consistency_at_most(k, sum, idle_of_all(k->cx), "waits expose more than devices are idle");
}

static void check_syncs(struct checking *k)
{
    const struct syncs *s = syncs_of(k->cx);
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->n_sites; i++) {
        const struct sync_site *x = &s->sites[i];
        sum += x->exposed_ns;
        consistency_at_most(k, x->in_copy_ns, x->blocked_ns,
                            "a site waits in copies longer than it waits");
        consistency_at_most(k, x->in_loop, x->n_rows,
                            "a site waits in the loop more often than at all");
        consistency_at_most(k, x->first_ns, x->last_ns,
                            "a site's last wait comes before its first");
    }
    consistency_at_most(k, sum, idle_of_all(k->cx), "sites expose more than devices are idle");
}

/* ---- wall clock ---- */

static void check_wall(struct checking *k)
{
    const struct bound_shares *p = &wall_of(k->cx)->parts;
    int64_t idle = 0;
    for (int i = 0; i < CAUSE_KINDS; i++) idle += p->idle_ns[i];
    if (p->device < 0) return;
    consistency_equal(k, p->kernel_ns + p->copy_ns + idle + p->outside_ns, p->wall_ns,
                      "parts of the wall clock do not add up to it");
    consistency_at_most(k, 0, p->outside_ns,
                        "a device works and idles for longer than the wall clock");
    consistency_at_most(k, 0, p->copy_ns, "kernels run for longer than the device works");
    consistency_at_most(k, p->kernel_ns, p->wall_ns, "kernels run for longer than the wall clock");
}

/* ---- stages and steps ---- */

static void check_work(struct checking *k, const struct work_sum *w)
{
    consistency_at_most(k, 0, w->union_ns, "work lasts less than no time");
    consistency_at_most(k, w->union_ns, w->sum_ns,
                        "work of a part lasts longer together than added up");
}

static void check_stages(struct checking *k)
{
    const struct stages *s = stages_of(k->cx);
    int64_t devices = timeline_of(k->cx)->n_devices;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct stage *x = &s->list[i];
        check_work(k, &x->gpu);
        consistency_at_most(k, x->step_cpu_ns, x->cpu_ns,
                            "a stage is in steps for longer than it lasts");
        consistency_at_most(k, x->self_gpu_ns, x->gpu.sum_ns,
                            "a stage's own work is more than all its work");
        consistency_at_most(k, x->idle_meanwhile_ns, x->cpu_ns * devices,
                            "devices are idle in a stage for longer than it lasts");
        consistency_at_most(k, x->median_ns, x->p95_ns,
                            "the median call is longer than the 95th percentile");
    }
}

static void check_steps(struct checking *k)
{
    const struct steps *s = steps_of(k->cx);
    for (uint32_t i = 0; i < s->n_steps; i++) {
        check_work(k, &s->steps[i].gpu);
        consistency_at_most(k, s->steps[i].profiler_ns, span_ns(s->steps[i].cpu),
                            "the profiler works in a step for longer than it lasts");
    }
}

/* ---- communication ---- */

static void check_comm(struct checking *k)
{
    const struct comm *c = comm_of(k->cx);
    for (uint32_t d = 0; d < c->n_devices; d++) {
        const struct comm_device *x = &c->devices[d];
        int64_t works = 0;
        for (uint32_t i = 0; i < c->n_works; i++)
            works += c->works[i].device == d ? c->works[i].exposed_ns : 0;
        consistency_equal(k, x->compute_ns + x->exposed_ns + x->copy_ns, x->busy_ns,
                          "compute, exposed communication and copies are not the busy time");
        consistency_equal(k, works, x->exposed_ns,
                          "communication that is not overlapped does not "
                          "add up");
        consistency_at_most(k, x->exposed_ns, x->comm_ns,
                            "more communication is not overlapped than there is");
        consistency_at_most(k, 0, x->copy_ns, "copies take less than no time");
    }
}

/* ---- findings ---- */

static void check_gain(struct checking *k, const struct finding *f)
{
    int64_t wall = undistort_of(k->cx)->plain_ns;
    consistency_at_most(k, 0, f->gain_ns, "a finding gains less than nothing");
    consistency_at_most(k, f->gain_ns, wall, "a finding gains more than the wall clock");
    consistency_must(k, f->gain_pct <= 100 + ROUNDING_PCT, "a finding gains more than 100 %",
                     f->gain_ns, wall);
    consistency_must(
        k, f->low_pct <= f->gain_pct + ROUNDING_PCT && f->gain_pct <= f->high_pct + ROUNDING_PCT,
        "a gain lies outside of its range", f->gain_ns, wall);
}

/* What a finding exposes: of kernels no more than they take, of the CPU no more than devices idle
 * or copy; without a device no more than the wall clock. */
static void check_cost(struct checking *k, const struct finding *f)
{
    const struct bound_shares *p = &wall_of(k->cx)->parts;
    int64_t idle = idle_of_all(k->cx) + p->copy_ns + (p->outside_ns > 0 ? p->outside_ns : 0);
    if (rule_cpu_only(k->cx)) idle = wall_of(k->cx)->wall_ns;
    consistency_at_most(k, 0, f->exposed_ns, "a finding exposes less than nothing");
    consistency_at_most(k, 0, f->blocked_ns, "a finding takes less than no time");
    if (f->device_ns)
        consistency_at_most(k, f->exposed_ns, f->device_ns, "kernels would take less than nothing");
    else
        consistency_at_most(k, f->exposed_ns, idle, "a finding exposes more than devices are idle");
}

static void check_findings(struct checking *k)
{
    const struct findings *f = findings_of(k->cx);
    int64_t sum = f->minor_gain_ns, wall = undistort_of(k->cx)->plain_ns;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t before = k->n;
        check_gain(k, f->items[i]);
        check_cost(k, f->items[i]);
        if (k->n > before) buf_printf(k->out, "  in: %s\n", f->items[i]->title);
        sum += f->items[i]->gain_ns;
    }
    consistency_at_most(k, sum, wall, "findings gain more than the wall clock together");
}

static void check_ladder(struct checking *k)
{
    const struct ladder *l = ladder_of(k->cx);
    for (uint32_t i = 1; i < l->n; i++)
        consistency_at_most(k, l->rungs[i].wall_ns, l->rungs[i - 1].wall_ns,
                            "a rung lies above the one above");
}

/* ---- all ---- */

static const struct {
    enum pass_id id;
    void (*check)(struct checking *k);
} checks[] = {
    {PASS_GAPS, check_gaps},     {PASS_EXPOSED, check_exposed},   {PASS_SYNCS, check_syncs},
    {PASS_WALL, check_wall},     {PASS_STAGES, check_stages},     {PASS_STEPS, check_steps},
    {PASS_LADDER, check_ladder}, {PASS_FINDINGS, check_findings}, {PASS_COMM, check_comm},
};

uint32_t consistency_check(const struct context *cx, struct buf *ret)
{
    struct checking k = {cx, ret, 0};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (consistency_has(&k, checks[i].id)) checks[i].check(&k);
    return k.n;
}

uint32_t consistency_check_diff(const struct diff *d, struct buf *ret)
{
    struct checking k = {NULL, ret, 0};
    for (int side = DIFF_BEFORE; side <= DIFF_AFTER; side++) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < d->n_parts; i++) sum += d->parts[i].ns[side];
        if (d->n_parts)
            consistency_equal(&k, sum, wall_of(d->side[side])->wall_ns,
                              "parts of a comparison do not add up to the wall clock");
    }
    return k.n;
}
