/* collective.h: names by which devices or ranks talk to each other. The one place that knows the
 * communication libraries and the collectives that serving engines bring along. */
#ifndef STRATA_ANALYZE_NAMES_COLLECTIVE_H
#define STRATA_ANALYZE_NAMES_COLLECTIVE_H

#include <stdbool.h>

#include "base/str.h"

/* A kernel that moves data between devices: "ncclDevKernel_AllReduce_Sum_f16_RING_LL",
 * "vllm::cross_device_reduce_1stage", "hcom_allReduce__428_0_1". */
bool collective_kernel(struct str name);

/* An annotation made by a library: "nccl:all_reduce". */
bool collective_label(struct str name);

/* A stage in which ranks wait for each other, as people name it: "grad_sync", "all gather". */
bool collective_stage(struct str name);

#endif
