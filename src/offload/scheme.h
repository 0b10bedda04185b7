/* scheme.h: a way of keeping weights and bringing them to the device, and how long it takes. Both
 * engines answer the same question: trial.h from a trace, estimate.h from numbers alone. */
#ifndef STRATA_OFFLOAD_SCHEME_H
#define STRATA_OFFLOAD_SCHEME_H

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

#endif
