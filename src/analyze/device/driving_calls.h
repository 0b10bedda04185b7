/* driving_calls.h: the calls that launch or wait, and whether work on the CPU holds one of them.
 * Loud work drives the device; quiet work keeps it waiting without doing anything for it. */
#ifndef STRATA_ANALYZE_DEVICE_DRIVING_CALLS_H
#define STRATA_ANALYZE_DEVICE_DRIVING_CALLS_H

#include "analyze/names/calls.h"

/* Threads looked at for who drives the device: thousands of them are not a pipeline. */
#define DRIVING_THREADS 32

struct driving_calls {
    const struct trace *t;
    row_t *calls;   /* by row: rows of a lane are in time order */
    uint32_t *from; /* by row: index of the first of them at or after it */
    uint32_t n;
    struct {
        lane_id lane;
        uint32_t first, end; /* its calls */
    } threads[DRIVING_THREADS];
    uint32_t n_threads;
};

/* Memory from `mem`; ERR_NOMEM is the only failure. */
int driving_calls_init(struct driving_calls *l, const struct trace *t, const struct calls *c,
                       struct arena *mem) MUST_USE;

/* Whether the row launches or waits anywhere inside: some loud call of its lane starts in it. */
bool driving_calls_has(const struct driving_calls *l, row_t r);

/* Whether the row waits for another thread of its process: one that drives the device for most of
 * its time, as autograd's does while the main thread is inside backward(). */
bool driving_calls_elsewhere(const struct driving_calls *l, row_t r);

/* The loud call before `call` on the same lane, or ROW_NONE. */
row_t driving_calls_before(const struct driving_calls *l, row_t call);

extern const struct pass driving_pass;

static inline const struct driving_calls *driving_of(const struct context *cx)
{
    return context_kept(cx, PASS_DRIVING);
}

#endif
