/* origin.c: see origin.h. */
#include "analyze/structure/origin.h"

const char *origin_name(enum origin o)
{
    static const char *const names[ORIGIN_COUNT] = {
        [ORIGIN_NONE] = "none",
        [ORIGIN_PROFILER_STEPS] = "profiler_steps",
        [ORIGIN_LABELS] = "annotations",
        [ORIGIN_MODULES] = "modules",
        [ORIGIN_FUNCTIONS] = "functions",
        [ORIGIN_COMPILED] = "compiled_regions",
        [ORIGIN_AUTOGRAD] = "autograd",
        [ORIGIN_OPS] = "operator_sequence",
        [ORIGIN_KERNELS] = "kernel_sequence",
    };
    return names[o];
}
