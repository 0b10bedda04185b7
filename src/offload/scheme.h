/* scheme.h: a way of keeping weights and bringing them to the device, and how long it takes. Both
 * engines answer the same question: trial.h from a trace, estimate.c from numbers alone. */
#ifndef STRATA_OFFLOAD_SCHEME_H
#define STRATA_OFFLOAD_SCHEME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "offload/facts.h"

struct scheme {
    enum offload_host host;
    const bool *resident; /* by module; NULL: none stays */
    bool preloaded;       /* what stays is on the device before the first step */
    uint32_t depth;       /* groups that are copied ahead, on a stream of their own; 0: none */
    bool by_block;        /* a group is a block, not a module; with depth, what lies outside of
                             all blocks comes in turn from pageable memory and is copied back */
    bool by_event;        /* with depth: streams wait for each other, the CPU for neither */
    double weight_scale;  /* bytes of a weight over the bytes it has now: 0.5 for 8 bits */
};

struct scheme_times {
    int64_t first_ns;               /* of the first step, which brings everything over once */
    int64_t step_ns;                /* of a later one: the median */
    int64_t fastest_ns, slowest_ns; /* of the later ones */
};

/* resident.c: which modules stay on the device within a budget of bytes. */

enum resident_order {
    RESIDENT_SMALLEST, /* smallest first */
    RESIDENT_LARGEST,  /* largest first */
    RESIDENT_BEST,     /* what saves most time for its bytes first */
};

/* One module as far as choosing goes. */
struct resident_item {
    int64_t bytes;
    double worth; /* time it saves a step when it stays; RESIDENT_BEST only */
};

struct resident_query {
    const struct resident_item *items;
    uint32_t n;
    enum resident_order order;
    int64_t limit;
};

/* Takes modules in the order asked for, skipping those that no longer fit in `limit` bytes; among
 * equals the one that runs first. Sets `ret[i]` for each module and *ret_bytes. Scratch from `mem`,
 * given back; ERR_NOMEM is the only failure. */
int resident_choose(const struct resident_query *q, struct arena *mem, bool *ret,
                    int64_t *ret_bytes) MUST_USE;

/* estimate.c: how long a scheme takes, from sizes and rates alone: for runs without a trace. */

/* Scratch from `mem`, given back; ERR_NOMEM is the only failure. */
int estimate_run(const struct facts *f, const struct scheme *sc, struct arena *mem,
                 struct scheme_times *ret) MUST_USE;

/* Time a step would gain if module i stayed, by module, under the scheme: what its copy costs
 * beyond the compute it hides behind. */
void estimate_worth(const struct facts *f, const struct scheme *sc, double *ret);

#endif
