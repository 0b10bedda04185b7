/* origin.h: what a part or a repetition of the program was derived from. */
#ifndef STRATA_ANALYZE_STRUCTURE_ORIGIN_H
#define STRATA_ANALYZE_STRUCTURE_ORIGIN_H

#include <stdbool.h>

enum origin {
    ORIGIN_NONE,
    ORIGIN_PROFILER_STEPS, /* ProfilerStep#N */
    ORIGIN_LABELS,         /* record_function, NVTX, strata.stage */
    ORIGIN_MODULES,        /* calls of an nn.Module */
    ORIGIN_FUNCTIONS,      /* Python functions */
    ORIGIN_COMPILED,       /* regions of torch.compile, replays of CUDA graphs */
    ORIGIN_AUTOGRAD,       /* backward operators and the forward operators they belong to */
    ORIGIN_OPS,            /* the operators that launch work, in order */
    ORIGIN_KERNELS,        /* names of kernels alone */
    ORIGIN_COUNT
};

/* "none", "profiler_steps", "annotations", "modules", "functions", "compiled_regions", "autograd",
 * "operator_sequence", "kernel_sequence". */
const char *origin_name(enum origin o);

/* Whether a person named it; everything else is derived. */
static inline bool origin_is_label(enum origin o)
{
    return o == ORIGIN_LABELS || o == ORIGIN_PROFILER_STEPS;
}

#endif
