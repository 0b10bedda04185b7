/* gpu_sharing.h: who else uses a GPU. */
#ifndef STRATA_ANALYZE_DEVICE_GPU_SHARING_H
#define STRATA_ANALYZE_DEVICE_GPU_SHARING_H

#include "analyze/context.h"

/* How many processes put work on one device (MPS, or alternately). Only of recordings of
 * ours, in which devices are distinguished by UUID: ranks of other recorders may all call theirs
 * 0. */

struct mps {
    uint32_t n_processes; /* of the device that most of them use; 0 when not known */
    int32_t device;
};

extern const struct pass mps_pass;

static inline const struct mps *mps_of(const struct context *cx)
{
    return context_kept(cx, PASS_SHARING);
}

/* Whether other processes used the devices too, by what our recorder sampled
 * through NVML (backend/cuda/processes.h). Without such samples nothing is known: it has not seen
 * any. */

struct other_processes {
    uint32_t n;      /* samples of the device that was shared most; 0: nothing is known */
    uint32_t shared; /* of them: with others there */
    uint32_t others; /* the most of them at once */
    int32_t device;
};

extern const struct pass other_processes_pass;

static inline const struct other_processes *other_processes_of(const struct context *cx)
{
    return context_kept(cx, PASS_GPU_SHARING);
}

#endif
