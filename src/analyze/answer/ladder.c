/* ladder.c: see ladder.h. */
#include "analyze/answer/ladder.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/answer/answer_constants.h"
#include "analyze/gaps/wall.h"
#include "analyze/kernels/roofline.h"
#include "base/span.h"
#include "base/stats.h"

const char *rung_kind_name(enum rung_kind k)
{
    static const char *const names[] = {"now", "fix", "gpu", "roofline"};
    return names[k];
}

static int ladder_by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The work of the busiest device in a replay. */
struct device_work {
    struct span *spans;
    uint32_t n;
    double whole_ns, known_ns, roof_ns; /* durations added; where the roof is known; at the roof */
    double flops;                       /* of all of it as recorded: fixes compute the same */
};

/* Work whose duration a fix has set stands for the work of others, too: its roof is that duration,
 * which the rule took from the rates of the GPU. */
static void ladder_add_work(const struct context *cx, row_t r, struct span s, struct device_work *d)
{
    double ns = (double)span_ns(s), roof = roofline_row_ns(roofline_of(cx), cx->t, r);
    d->flops += roofline_row_flops(roofline_of(cx), cx->t, r);
    d->spans[d->n++] = s;
    if (llabs(span_ns(s) - cx->t->dur_ns[r]) > 1) roof = ns;
    d->whole_ns += ns;
    if (isnan(roof)) return;
    d->known_ns += ns;
    d->roof_ns += roof < ns ? roof : ns;
}

static int ladder_collect(const struct context *cx, const struct sim_result *r,
                          struct device_work *ret, struct err *e)
{
    const struct sim_model *m = model_of(cx);
    *ret = (struct device_work){
        .spans = arena_alloc(cx->mem, (m->n_works + (size_t)1) * sizeof *ret->spans)};
    if (!ret->spans) return err_nomem(e);
    for (uint32_t w = 0; w < m->n_works; w++)
        if (trace_gpu(cx->t, m->works[w].row)->device == wall_of(cx)->parts.device)
            ladder_add_work(cx, m->works[w].row,
                            (struct span){r->work_begin_ns[w], r->work_end_ns[w]}, ret);
    if (ret->n) qsort(ret->spans, ret->n, sizeof *ret->spans, ladder_by_begin);
    return 0;
}

static int64_t ladder_covered_ns(const struct device_work *d)
{
    int64_t covered = INT64_MIN, sum = 0;
    for (uint32_t i = 0; i < d->n; i++) sum += span_uncovered(&covered, d->spans[i]);
    return sum;
}

/* Every finding with a gain fixed. */
static int replay_all(const struct context *cx, struct sim_result *ret, struct err *e)
{
    const struct findings *f = findings_of(cx);
    struct sim_edit *edits =
        arena_alloc(cx->mem, ((size_t)f->n * FINDING_EDITS + 1) * sizeof *edits);
    if (!edits) return err_nomem(e);
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 0; !f->items[i]->advice && k < f->items[i]->n_edits; k++)
            edits[n++] = f->items[i]->edits[k];
    struct sim_plan base = undistort_base(undistort_of(cx)), plan;
    TRY(sim_plan_build(model_of(cx), (struct sim_edits){edits, n, &base}, cx->mem, &plan, e));
    return sim_replay(model_of(cx), &plan, cx->mem, ret, e);
}

/* What of the device's time is left when each of its kernels runs at its roof. */
static double roof_share(const struct device_work *d)
{
    if (d->whole_ns <= 0 || d->known_ns < ladder_known_share * d->whole_ns) return -1;
    return (d->whole_ns - d->known_ns + d->roof_ns) / d->whole_ns;
}

/* What the arithmetic takes at the highest rate of this GPU for numbers that the program uses or
 * that a fix may bring in: 16 bits. */
static double ladder_arithmetic_ns(const struct context *cx, double flops)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    double rate = c->compute[HALF].per_s;
    static const enum precision narrow[] = {FP8, INT8};
    for (int i = 0; i < 2; i++)
        if (roofline_uses(roofline_of(cx), narrow[i]) && c->compute[narrow[i]].per_s > rate)
            rate = c->compute[narrow[i]].per_s;
    return rate > 0 && flops > 0 ? flops / rate * 1e9 : 0;
}

static int ladder_measure(const struct context *cx, struct ladder *l, struct err *e)
{
    struct arena_mark mark = arena_mark(cx->mem);
    struct sim_result all;
    struct device_work d;
    int rc = replay_all(cx, &all, e);
    if (rc == 0) rc = ladder_collect(cx, &all, &d, e);
    if (rc == 0) {
        double share = roof_share(&d);
        l->gpu_ns = (int64_t)((double)ladder_covered_ns(&d) * undistort_of(cx)->time_scale);
        double least = ladder_arithmetic_ns(cx, d.flops) * undistort_of(cx)->time_scale;
        double roof = (double)l->gpu_ns * share;
        l->roofline_ns = share < 0 ? -1 : (int64_t)(roof > least ? roof : least);
    }
    arena_reset_to(cx->mem, mark);
    return rc;
}

static void add_rung(struct ladder *l, struct rung r)
{
    const struct rung *above = l->n ? &l->rungs[l->n - 1] : NULL;
    if (above && r.wall_ns > above->wall_ns) r.wall_ns = above->wall_ns;
    if (above)
        r.gain_pct = stats_pct((double)(above->wall_ns - r.wall_ns), (double)l->rungs[0].wall_ns);
    l->rungs[l->n++] = r;
}

static void add_fixes(const struct findings *f, struct ladder *l)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const struct finding *x = f->items[i];
        if (x->advice || !x->n_edits || x->gain_ns <= 0) continue;
        add_rung(l, (struct rung){.kind = RUNG_FIX,
                                  .name = x->title,
                                  .finding = i + 1,
                                  .wall_ns = l->rungs[l->n - 1].wall_ns - x->gain_ns});
    }
}

static int ladder_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct ladder *l = ret;
    l->roofline_ns = -1;
    if (wall_of(cx)->abstains || wall_of(cx)->bound == BOUND_UNKNOWN) return 0;
    if (findings_of(cx)->unpriced) return 0;
    l->rungs = arena_alloc(cx->mem, (findings_of(cx)->n + (size_t)3) * sizeof *l->rungs);
    if (!l->rungs) return err_nomem(e);
    TRY(ladder_measure(cx, l, e));
    add_rung(l,
             (struct rung){.kind = RUNG_NOW, .name = "now", .wall_ns = undistort_of(cx)->plain_ns});
    add_fixes(findings_of(cx), l);
    add_rung(l, (struct rung){.kind = RUNG_GPU, .name = "the GPU alone", .wall_ns = l->gpu_ns});
    if (l->roofline_ns >= 0)
        add_rung(l, (struct rung){.kind = RUNG_ROOF,
                                  .name = "each kernel at its roof",
                                  .wall_ns = l->roofline_ns});
    return 0;
}

static const struct pass *const needs[] = {&wall_pass, &findings_pass, &roofline_pass, NULL};

const struct pass ladder_pass = {
    .id = PASS_LADDER,
    .size = sizeof(struct ladder),
    .needs = needs,
    .run = ladder_run_pass,
};
