/* loop.h: where the rounds of the main loop (denoising steps, training steps, tokens) begin and
 * end on the CPU. What they cost is measured by passes/steps.
 *
 * Looked for in this order, and never invented:
 *   1. ProfilerStep#N annotations;
 *   2. annotations that repeat and tile the loop: the period of their sequence, so that the two
 *      forwards of classifier-free guidance and the scheduler's step make one round;
 *   3. the period of what is launched, in order: compiled regions, graphs and kernels. */
#ifndef STRATA_ANALYZE_STEPS_LOOP_H
#define STRATA_ANALYZE_STEPS_LOOP_H

#include "analyze/names/calls.h"

enum loop_found {
    LOOP_NONE,
    LOOP_PROFILER_STEPS,
    LOOP_ANNOTATIONS,
    LOOP_COMPILED, /* the repeating launches come from compiled regions or graphs */
    LOOP_KERNELS,  /* names of kernels alone: might be layers of one forward pass */
    LOOP_WAYS
};

struct loop_round {
    int64_t begin_ns, end_ns; /* to the begin of the next round; the last to its own end */
    int64_t inner_end_ns;     /* end of its last label or launch: before the next round begins */
    str_id name;              /* of its first label, or STR_NONE */
    int64_t number;           /* N of ProfilerStep#N, else -1 */
};

struct loop {
    enum loop_found found;
    struct loop_round *rounds; /* ascending, apart */
    uint32_t n_rounds;
    uint32_t period;  /* labels or launches a round */
    lane_id lane;     /* the thread the rounds were found on, or LANE_NONE */
    uint32_t process; /* its process; UINT32_MAX when not known */
    bool on_device;   /* rounds are times on the device: its work has no launches in the trace */
};

/* "none", "profiler_steps", "annotations", "compiled_regions", "kernel_sequence". */
const char *loop_found_name(enum loop_found f);

int loop_find(const struct trace *t, const struct calls *calls, struct arena *mem, struct loop *ret,
              struct err *e) MUST_USE;

#endif
