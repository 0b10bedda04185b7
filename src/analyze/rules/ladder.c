/* ladder.c: see ladder.h. */
#include "analyze/rules/ladder.h"

#include <stdlib.h>

#include "analyze/gaps/wall.h"
#include "base/span.h"
#include "base/stats.h"

const char *rung_kind_name(enum rung_kind k)
{
    static const char *const names[] = {"now", "fix", "gpu", "roofline"};
    return names[k];
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Time in which the busiest device works in a replay. */
static int busy_ns(const struct context *cx, const struct sim_result *r, int64_t *ret,
                   struct err *e)
{
    const struct sim_model *m = model_of(cx);
    struct span *work = arena_alloc(cx->mem, (m->n_works + (size_t)1) * sizeof *work);
    if (!work) return err_nomem(e);
    uint32_t n = 0;
    for (uint32_t w = 0; w < m->n_works; w++)
        if (trace_gpu(cx->t, m->works[w].row)->device == wall_of(cx)->parts.device)
            work[n++] = (struct span){r->work_begin_ns[w], r->work_end_ns[w]};
    if (n) qsort(work, n, sizeof *work, by_begin);
    int64_t covered = INT64_MIN;
    *ret = 0;
    for (uint32_t i = 0; i < n; i++) *ret += span_uncovered(&covered, work[i]);
    return 0;
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

static int gpu_alone(const struct context *cx, int64_t *ret, struct err *e)
{
    struct arena_mark mark = arena_mark(cx->mem);
    struct sim_result all;
    int rc = replay_all(cx, &all, e);
    if (rc == 0) rc = busy_ns(cx, &all, ret, e);
    arena_reset_to(cx->mem, mark);
    *ret = rc ? 0 : (int64_t)((double)*ret * undistort_of(cx)->time_scale);
    return rc;
}

/* Not known as long as no pass computes it. */
static int64_t roofline_ns(const struct context *cx)
{
    (void)cx;
    return -1;
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

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    struct ladder *l = ret;
    l->roofline_ns = -1;
    if (wall_of(cx)->abstains || wall_of(cx)->bound == BOUND_UNKNOWN) return 0;
    l->rungs = arena_alloc(cx->mem, (findings_of(cx)->n + (size_t)3) * sizeof *l->rungs);
    if (!l->rungs) return err_nomem(e);
    TRY(gpu_alone(cx, &l->gpu_ns, e));
    l->roofline_ns = roofline_ns(cx);
    add_rung(l, (struct rung){
                    .kind = RUNG_NOW, .name = "as it is", .wall_ns = undistort_of(cx)->plain_ns});
    add_fixes(findings_of(cx), l);
    add_rung(l, (struct rung){.kind = RUNG_GPU, .name = "the GPU alone", .wall_ns = l->gpu_ns});
    if (l->roofline_ns >= 0)
        add_rung(
            l, (struct rung){.kind = RUNG_ROOF, .name = "the roofline", .wall_ns = l->roofline_ns});
    return 0;
}

static const struct pass *const needs[] = {&wall_pass, &findings_pass, NULL};

const struct pass ladder_pass = {
    .id = PASS_LADDER,
    .size = sizeof(struct ladder),
    .needs = needs,
    .run = run_pass,
};
