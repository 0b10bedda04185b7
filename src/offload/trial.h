/* trial.h: replaying a streamed run as if its weights were kept or brought over another way.
 *
 * Where a trace exists this is what predictions come from. A module that stays on the device loses
 * its loads, with their copies, waits and allocator calls; other host memory changes how long a
 * copy takes and whether it holds the CPU; code that runs right after a copy from pageable memory
 * runs with cold caches, and with warm ones when the copy is gone. */
#ifndef STRATA_OFFLOAD_TRIAL_H
#define STRATA_OFFLOAD_TRIAL_H

#include "analyze/simulate/undistort.h"
#include "offload/hooks.h"
#include "offload/scheme.h"

/* What all trials of one trace share. */
struct trial {
    const struct trace *t;
    struct context *cx;
    const struct sim_model *m;
    const struct undistort *u;
    const struct streamed *s;
    uint32_t *step_of_work; /* by work of the model: step that launches it, or STREAMED_NONE */
    uint32_t *load_of_work; /* ... the load it is a copy of, or STREAMED_NONE */
    uint32_t *thread_of_load;
    struct hooks hooks;
    uint32_t *first_hook; /* by load, and one more: its hooks end where the next one's begin */
    uint32_t *cleanup_of; /* by call: the load whose module it puts away, or STREAMED_NONE */
    uint32_t n_cleanups;
    uint32_t n_waits;                /* calls of the model that wait */
    int64_t start_ns;                /* of the first step in the replay */
    enum offload_host traced_host;   /* of the larger part of the bytes */
    double bytes_per_ns[HOST_KINDS]; /* of large copies; measured, given or assumed */
    double back_bytes_per_ns;        /* of copies back to pageable memory; 0: they take no time */
    int64_t rest_bytes;              /* of facts.h */
    int64_t alloc_ns;                /* of one device allocation */
};

/* Fills what follows from t, cx, m, u and s, which are set. Memory from `mem`, which must outlive
 * the trial. */
int trial_init(struct trial *tr, struct arena *mem, struct err *e) MUST_USE;

/* The times of the trace as it is, the profiler's cost included. */
int trial_traced(const struct trial *tr, struct arena *mem, struct scheme_times *ret) MUST_USE;

/* The times under the scheme; with NULL, of the run as it is, without the profiler's cost. Scratch
 * from `mem`, given back. */
int trial_run(const struct trial *tr, const struct scheme *sc, struct arena *mem,
              struct scheme_times *ret, struct err *e) MUST_USE;

#endif
