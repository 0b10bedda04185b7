/* context.h: one trace under analysis. A pass is computed when it is first needed and kept until
 * the context ends; what it builds on is computed before it.
 *
 *     struct context cx;
 *     context_init(&cx, t, &mem);
 *     TRY(context_need(&cx, &gaps_pass, e));       ... and with it calls, timeline, steps, syncs
 *     const struct gaps *g = gaps_of(&cx);         never fails from here on
 *     context_done(&cx);
 *
 * A pass stands in the file that computes it, as a const struct, with `<name>_of` in its header. It
 * fills its own result and nothing else; results do not change once they are there. */
#ifndef STRATA_ANALYZE_CONTEXT_H
#define STRATA_ANALYZE_CONTEXT_H

#include <assert.h>

#include "analyze/thresholds.h"
#include "base/arena.h"
#include "trace/trace.h"

struct ceilings;

enum pass_id {
    PASS_CALLS,
    PASS_DEEP,
    PASS_PLACES,
    PASS_HOST_CAUSES,
    PASS_OVERHEADS,
    PASS_TIMELINE,
    PASS_QUEUES,
    PASS_IDLE,
    PASS_LEVELS,
    PASS_GPU_CLOCKS,
    PASS_GPU_SHARING,
    PASS_HOST_STALLS,
    PASS_DRIVING,
    PASS_OUTLINE,
    PASS_STEPS,
    PASS_ODD_STEP,
    PASS_RECORDED,
    PASS_PROCESS_SETTINGS,
    PASS_COMM,
    PASS_MESSAGES,
    PASS_HOST_MESSAGES,
    PASS_STAGES,
    PASS_REQUESTS,
    PASS_WAITS,
    PASS_EXPOSED,
    PASS_SYNCS,
    PASS_GAPS,
    PASS_LAUNCHLESS,
    PASS_LAUNCH_DELAYS,
    PASS_LAUNCHES,
    PASS_CAPTURED,
    PASS_MEMORY,
    PASS_INTEGRITY,
    PASS_MODEL,
    PASS_UNDISTORT,
    PASS_WALL,
    PASS_KERNEL_SOURCES,
    PASS_SHARING,
    PASS_ROOFLINE,
    PASS_KNOWN,
    PASS_SEQUENCE,
    PASS_CPU_HOT,
    PASS_TOP_KERNELS,
    PASS_FINDINGS,
    PASS_CHECKLIST,
    PASS_LADDER,
    PASS_HOT_SPOTS,
    PASS_MFU,
    PASS_ENERGY,
    PASS_NO_GAIN,
    PASS_ANSWER,
    PASS_COUNT
};

struct context {
    const struct trace *t;
    struct arena *mem; /* where results live */

    /* what the caller may change before the first context_need */
    struct thresholds th;
    int64_t program_ns;  /* wall clock that the program wrote of itself (timing.json); 0: none */
    int64_t measured_ns; /* wall clock without a profiler; 0 when not known */
    const struct ceilings *ceilings; /* of its GPU, where measured; NULL: as the table has it */
    bool all_stages;                 /* compiled regions and collectives are stages too */

    void *kept[PASS_COUNT];
    const struct pass *passes[PASS_COUNT]; /* of what is kept */
};

struct pass {
    enum pass_id id;
    size_t size;                                              /* of its result */
    const struct pass *const *needs;                          /* NULL-terminated, or NULL */
    int (*run)(struct context *cx, void *ret, struct err *e); /* `ret` is zeroed */
    void (*done)(void *result); /* frees what is not in the arena; may be NULL */
};

/* `t` and `mem` must outlive the context. */
void context_init(struct context *cx, const struct trace *t, struct arena *mem);
void context_done(struct context *cx);

/* Computes a pass unless it is there already. A pass that failed is not kept. */
int context_need(struct context *cx, const struct pass *p, struct err *e) MUST_USE;

/* The result of a pass that was requested. */
static inline void *context_kept(const struct context *cx, enum pass_id id)
{
    assert(cx->kept[id]);
    return cx->kept[id];
}

#endif
