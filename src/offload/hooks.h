/* hooks.h: what the CPU does only because weights move, besides moving them: code that runs before
 * a module (checks, waits, gives cached memory back) and after it (puts the weights away,
 * copies them back), and what that does to the code between: cold caches, memory taken again from
 * the driver. Recognized by the operators and calls around the loads; no Python frames are needed.
 *
 *     [add]  [to][detach]  [== load ==] [to]  [linear]  [sync][detach]  [gelu] ...
 *          |<-------- before the module -----|        |<- after it ---|          gone with the load
 *                                            |<----->|                  |<---->| faster without it
 *
 * A typical gap between two operators is left where such code was. */
#ifndef STRATA_OFFLOAD_HOOKS_H
#define STRATA_OFFLOAD_HOOKS_H

#include "offload/streamed.h"

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

#endif
