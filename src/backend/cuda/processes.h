/* processes.h: how many other processes use a device, by NVML's lists of them.
 *
 * Process ids are of no help: inside a container they may be those of the host, or be hidden. But a
 * process has one id, so of several different ones at most one is ours: that many less one are
 * others, whatever the numbers are. There may always be more of them than can be seen. */
#ifndef STRATA_BACKEND_CUDA_PROCESSES_H
#define STRATA_BACKEND_CUDA_PROCESSES_H

#include <stdint.h>

/* nvmlProcessInfo_v2_t. */
struct nvml_process {
    uint32_t pid;
    uint64_t used_bytes;
    uint32_t gpu_instance, compute_instance; /* UINT32_MAX unless the device is partitioned (MIG) */
};

enum { PROCESSES_MOST = 256, PROCESSES_UNKNOWN = -1 };

/* The lists of one device that this process works on. `direct` have a context of their own, which
 * the server of MPS has for its clients; those are in `mps`. */
struct process_lists {
    struct nvml_process direct[PROCESSES_MOST], mps[PROCESSES_MOST];
    uint32_t n_direct, n_mps;
};

/* How many others there are at least; PROCESSES_UNKNOWN where not even we are listed, or where the
 * device is partitioned: those in other partitions do not disturb. Sorts the lists. */
int processes_others(struct process_lists *l);

#endif
