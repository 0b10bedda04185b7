/* trial.h: replaying a streamed run as if its weights were kept or brought over another way.
 *
 * Where a trace exists this is what predictions come from. A module that stays on the device loses
 * its loads, with their copies, waits and allocator calls; other host memory changes how long a
 * copy takes and whether it holds the CPU; code that runs right after a copy from pageable memory
 * runs with cold caches, and with warm ones when the copy is gone. */
#ifndef STRATA_OFFLOAD_TRIAL_H
#define STRATA_OFFLOAD_TRIAL_H

#include "analyze/simulate/undistort.h"
#include "offload/scheme.h"
#include "offload/streamed.h"

/* hooks.c: what the CPU does only because weights move, besides moving them: code that runs before
 * a module (checks, waits, gives cached memory back) and after it (puts the weights away,
 * copies them back), and what that does to the code between: cold caches, memory taken again from
 * the driver. Recognized by the operators and calls around the loads; no Python frames are needed.
 *
 *     [add]  [to][detach]  [== load ==] [to]  [linear]  [sync][detach]  [gelu] ...
 *          |<-------- before the module -----|        |<- after it ---|          gone with the load
 *                                            |<----->|                  |<---->| faster without it
 *
 * A typical gap between two operators is left where such code was. */

/* CPU time of the load's thread that takes `keep` times as long when the load is gone. */
struct hook {
    uint32_t load;
    int64_t begin_ns, end_ns;
    double keep; /* 0: it is gone too */
};

struct hooks {
    struct hook *all; /* by load */
    uint32_t n;
    int64_t gap_ns; /* between two operators with nothing of this kind between them */
};

/* Loads from here on leave cold caches behind when their memory is pageable: the CPU itself has
 * copied every byte. Measured on one machine, the same code took 2.2 to 2.5 times as long then. */
#define HOOKS_BIG_BYTES 1000000
#define HOOKS_COLD      2.2

/* Memory from `mem`. ERR_NOMEM is the only failure. */
int hooks_run(const struct trace *t, const struct context *cx, const struct streamed *s,
              struct arena *mem, struct hooks *ret) MUST_USE;

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

/* items.c: a thread as a row of items: the outermost operators and calls on it, with what they mean
 * for a run that streams weights. Python frames and annotations are skipped. */

enum item_kind {
    ITEM_COMPUTE, /* the model's own */
    ITEM_SERVICE, /* may serve the moving of weights */
    ITEM_LOAD,    /* part of a load */
    ITEM_BARRIER, /* the program waits for the device by itself */
};

struct item {
    row_t row;
    int64_t begin_ns, end_ns;
    enum item_kind kind;
    bool sure;          /* ITEM_SERVICE: nothing but offloading does this */
    bool frees;         /* gives device memory back to the driver */
    uint32_t step;      /* that it begins in */
    uint32_t load;      /* the last load that began at or before it, or STREAMED_NONE */
    int64_t down_bytes; /* copied back to the host */
    int64_t alloc_ns;   /* spent in the driver's allocator inside the operator */
};

/* What items are read from. */
struct items_source {
    const struct trace *t;
    const struct context *cx;
    const struct streamed *s;
};

/* Items of one thread inside the steps, in time order. NULL for `ret` counts them. */
uint32_t items_read(const struct items_source *src, lane_id lane, struct item *ret);

/* The first load of the thread at or after `i`; n_loads when there is none. */
uint32_t items_next_load(const struct streamed *s, uint32_t i, lane_id lane);

#endif
