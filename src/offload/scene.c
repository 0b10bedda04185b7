/* scene.c: see scene.h. */
#include "offload/scene.h"

/* Noise is not believed to be below this, in percent. */
#define LEAST_NOISE_PCT 3.0

/* The gain that break-even asks for unless the user gives one. */
#define TARGET_PCT 10

int scene_read(struct context *cx, struct scene_hints hints, struct arena *mem, struct scene *ret,
               struct err *e)
{
    const struct trace *t = cx->t;
    TRY(context_need(cx, &steps_pass, e));
    *ret = (struct scene){.cx = cx};
    ret->streamed.asked_steps = hints.steps;
    ret->streamed.asked_passes = hints.passes;
    TRY(streamed_run(t, cx, mem, &ret->streamed, e));
    if (!ret->streamed.n_loads) return 0;
    TRY(context_need(cx, &undistort_pass, e));
    ret->trial = (struct trial){
        .t = t, .cx = cx, .m = model_of(cx), .u = undistort_of(cx), .s = &ret->streamed};
    TRY(trial_init(&ret->trial, mem, e));
    return observe_run(&ret->trial, mem, &ret->observed, e);
}

int scene_facts(const struct scene *sc, struct arena *mem, struct facts *ret, struct err *e)
{
    const struct scheme_times *t = &sc->observed.times;
    TRY(observe_facts(&sc->trial, &sc->observed, mem, ret, e));
    double spread = (double)(t->slowest_ns - t->fastest_ns);
    ret->noise_pct = t->step_ns > 0 ? 50 * spread / (double)t->step_ns : 0;
    if (ret->noise_pct < LEAST_NOISE_PCT) ret->noise_pct = LEAST_NOISE_PCT;
    ret->noise_from = FACT_MEASURED;
    return 0;
}

int scene_complete(struct scene *sc, struct facts *f, struct arena *mem, struct err *e)
{
    TRY(facts_complete(f, sc->cx->t->n_devices ? sc->cx->t->devices[0].major : 0, mem, e));
    for (int h = 0; h < HOST_KINDS; h++) sc->trial.bytes_per_ns[h] = f->rate[h].bytes_per_ns;
    sc->trial.back_bytes_per_ns = f->back.bytes_per_ns;
    sc->trial.alloc_ns = f->alloc_ns;
    sc->trial.rest_bytes = f->rest_bytes;
    return 0;
}

int scene_run(struct context *cx, struct arena *mem, struct scene *ret, struct err *e)
{
    struct scene_hints none = {0};
    TRY(scene_read(cx, none, mem, ret, e));
    if (!ret->streamed.n_loads) return 0;
    struct plan *p = &ret->plan;
    TRY(scene_facts(ret, mem, &p->facts, e));
    TRY(scene_complete(ret, &p->facts, mem, e));
    p->trial = &ret->trial;
    p->observed = ret->observed;
    p->wish = (struct wish){.resident_bytes = -1, .depth = 1, .target_pct = TARGET_PCT};
    return plan_run(p, mem, e);
}
