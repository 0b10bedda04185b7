/* observe.h: what a trace of a streamed run shows about its transfers, in numbers that can be
 * checked by hand: bytes, rates, what was hidden behind compute and what was not, what the
 * allocator did. */
#ifndef STRATA_OFFLOAD_OBSERVE_H
#define STRATA_OFFLOAD_OBSERVE_H

#include "offload/facts.h"
#include "offload/trial.h"

/* Copies of one kind inside the loop. Rates are of copies large enough to show them. */
struct observed_copies {
    uint32_t n;
    int64_t bytes, ns;
    struct facts_rate rate; /* median, p10, p90; from is FACT_UNKNOWN without large copies */
};

struct observed_churn {
    uint32_t allocs, frees, host_allocs; /* calls to the driver's allocator */
    int64_t ns;
};

struct observed {
    struct observed_copies to_device[HOST_KINDS];
    struct observed_copies to_host;     /* weights copied back */
    int64_t copying_ns;                 /* in the loop: time at least one upload ran */
    int64_t overlapped_ns;              /* of that: time a kernel ran too */
    int64_t compute_ns;                 /* time at least one kernel ran */
    struct observed_churn first, later; /* of the first step; of all later ones together */
    bool empties_cache;                 /* device memory is given back to the driver every step */
    int64_t first_bytes, step_bytes;    /* brought over in the first step, in a later one */
    struct scheme_times times;          /* as traced, profiler included */
    int64_t peak_allocated;             /* by the framework's allocator; -1 when not recorded */
};

/* Scratch from `mem`, given back. */
int observe_run(const struct trial *tr, struct arena *mem, struct observed *ret,
                struct err *e) MUST_USE;

/* What follows from a trace: modules, rates, times, costs. Modules in `mem`. */
int observe_facts(const struct trial *tr, const struct observed *o, struct arena *mem,
                  struct facts *ret, struct err *e) MUST_USE;

#endif
