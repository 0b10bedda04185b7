/* scene.h: a trace of a streamed run with everything that is known about it, up to the plan. */
#ifndef STRATA_OFFLOAD_SCENE_H
#define STRATA_OFFLOAD_SCENE_H

#include "offload/planner.h"

/* What the user knows about the traced run; 0 where nothing was said. */
struct scene_hints {
    int64_t wall_ns; /* of the run without a profiler: for context.measured_ns */
    uint32_t steps, passes;
};

struct scene {
    struct context *cx;
    struct streamed streamed; /* n_loads is 0 when nothing is streamed: the rest is not filled */
    struct trial trial;
    struct observed observed;
    struct plan plan; /* of scene_run; n_rows is 0 when nothing is streamed */
};

/* Looks for streamed weights and prepares replays. A scene must not be moved afterwards. Memory
 * from `mem`, which must outlive it, as must `cx`. */
int scene_read(struct context *cx, struct scene_hints hints, struct arena *mem, struct scene *ret,
               struct err *e) MUST_USE;

/* What the trace alone tells. */
int scene_facts(const struct scene *sc, struct arena *mem, struct facts *ret,
                struct err *e) MUST_USE;

/* Completes `f` and hands its rates and costs to the replays: call it before plan_run. */
int scene_complete(struct scene *sc, struct facts *f, struct arena *mem, struct err *e) MUST_USE;

/* All of it, with nothing asked for: `ret->plan` for a page that shows the trace. A few dozen
 * replays where weights are streamed. */
int scene_run(struct context *cx, struct arena *mem, struct scene *ret, struct err *e) MUST_USE;

#endif
