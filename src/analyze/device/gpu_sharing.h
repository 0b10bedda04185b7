/* gpu_sharing.h: whether other processes used the devices too, by what our recorder sampled through
 * NVML (backend/cuda/processes.h). Without such samples nothing is known: it has not seen any. */
#ifndef STRATA_ANALYZE_DEVICE_GPU_SHARING_H
#define STRATA_ANALYZE_DEVICE_GPU_SHARING_H

#include "analyze/context.h"

struct gpu_sharing {
    uint32_t n;      /* samples of the device that was shared most; 0: nothing is known */
    uint32_t shared; /* of them: with others there */
    uint32_t others; /* the most of them at once */
    int32_t device;
};

extern const struct pass gpu_sharing_pass;

static inline const struct gpu_sharing *gpu_sharing_of(const struct context *cx)
{
    return context_kept(cx, PASS_GPU_SHARING);
}

#endif
