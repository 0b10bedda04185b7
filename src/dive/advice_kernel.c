/* advice_kernel.c: see dive.h. */
#include "dive/dive_private.h"
#include "dive/verdict.h"

#include <string.h>

static const char *about_memory(const struct verdict_in *in, const struct verdict *v)
{
    switch (v->unit) {
    case UNIT_L2:
        return "Neighbouring threads read addresses far apart: make the tensor contiguous, or "
               "keep it in the layout the next kernel wants (channels_last) instead of "
               "transposing it.";
    case UNIT_L1:
        return "Shared memory is the limit: avoid bank conflicts (pad rows), use wider loads, or "
               "use a library kernel.";
    default: break;
    }
    if (in->family == FAMILY_GEMM)
        return "It has too few rows for the weights it reads: use larger batches or smaller "
               "weights (fp8, int8). A faster GEMM kernel gains nothing.";
    if (in->family == FAMILY_COPY)
        return "It only moves data: avoid the copy (views, in-place operations, the layout the "
               "next kernel wants) rather than speeding it up.";
    return "It moves data as fast as the GPU can: fuse it with its neighbours (torch.compile) so "
           "that tensors are read and written once, or store them in fewer bytes.";
}

static const char *about_tensor(const struct verdict_in *in)
{
    if (in->profile->main == FP32 || in->profile->main == TF32)
        return "Tensor cores run at tf32: bf16 or fp16 is twice as fast if the model allows it.";
    if (in->profile->main == HALF)
        return "It is at the limit of the tensor cores: only less work (fewer tokens or steps, "
               "caching, sparse attention) or a narrower type (fp8) helps.";
    return "It is at the limit of the tensor cores: only less work helps.";
}

static const char *about_arithmetic(const struct verdict_in *in, const struct verdict *v)
{
    bool multiplies =
        in->family == FAMILY_GEMM || in->family == FAMILY_CONV || in->family == FAMILY_ATTENTION;
    if (multiplies && in->profile->tensor_known && !in->profile->tensor_used)
        return "It multiplies matrices without tensor cores: run it in bf16 or fp16, or allow tf32 "
               "(torch.backends.cuda.matmul.allow_tf32 = True).";
    if (v->unit == UNIT_FP64)
        return "It computes in double precision. If that is not needed, look for a stray float64 "
               "scalar or numpy array.";
    return "Arithmetic is the limit: use cheaper functions (tanh for erf in GELU), less index "
           "arithmetic, or half-precision pairs.";
}

static const char *about_occupancy(const struct verdict *v)
{
    if (v->factor && strcmp(v->factor, "registers") == 0)
        return "Registers limit the number of warps: use smaller tiles or keep fewer values alive "
               "(__launch_bounds__, Triton: num_warps, smaller BLOCK).";
    if (v->factor && strcmp(v->factor, "shared memory") == 0)
        return "Shared memory limits the number of blocks: use smaller tiles or fewer stages "
               "(Triton: num_stages).";
    return "There are too few warps per SM: try another block size, or more work per thread.";
}

static const char *about_tail(const struct verdict_in *in)
{
    if (in->profile->waves < 1)
        return "There is too little work to fill the GPU: batch it, fuse it with its neighbours "
               "(torch.compile), or overlap it with others (CUDA graph, streams). For a GEMM: "
               "split-k.";
    return "The last wave leaves SMs empty: try another tile size, a persistent (stream-k) "
           "kernel, or sizes that fill whole waves.";
}

const char *advice_kernel(const struct verdict_in *in, const struct verdict *v)
{
    switch (v->limiter) {
    case LIMITER_MEMORY: return about_memory(in, v);
    case LIMITER_TENSOR: return about_tensor(in);
    case LIMITER_COMPUTE: return about_arithmetic(in, v);
    case LIMITER_ISSUE:
        return "Instructions are the limit, not data: use vectorized loads, fewer conversions and "
               "index computations, or fuse kernels so that each value is handled once.";
    case LIMITER_LATENCY:
        return "It waits although there are enough warps: use more independent work per thread "
               "(unrolling, early loads) and fewer barriers.";
    case LIMITER_OCCUPANCY: return about_occupancy(v);
    case LIMITER_TAIL: return about_tail(in);
    default: return NULL;
    }
}
