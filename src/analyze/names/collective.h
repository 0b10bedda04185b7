/* collective.h: names by which devices or ranks talk to each other. The one place that knows the
 * communication libraries and the collectives that serving engines bring along. */
#ifndef STRATA_ANALYZE_NAMES_COLLECTIVE_H
#define STRATA_ANALYZE_NAMES_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A kernel that moves data between devices: "ncclDevKernel_AllReduce_Sum_f16_RING_LL",
 * "vllm::cross_device_reduce_1stage", "hcom_allReduce__428_0_1". */
bool collective_kernel(struct str name);

/* An annotation made by a library: "nccl:all_reduce". */
bool collective_label(struct str name);

/* A stage in which ranks wait for each other, as people name it: "grad_sync", "all gather". */
bool collective_stage(struct str name);

enum collective {
    COLLECTIVE_OTHER, /* the name does not say which */
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_SEND_RECV,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_BARRIER,
    COLLECTIVE_REDUCE,
    COLLECTIVE_GATHER,
    COLLECTIVE_SCATTER,
    COLLECTIVES
};

/* Which one, from the name of a kernel, of an annotation ("nccl:all_to_all") or as torch writes it
 * ("_allgather_base"). Only for names that are known to be of communication. */
enum collective collective_of(struct str name);

const char *collective_name(enum collective c); /* "all_reduce" ...; "other" */

/* Bus bandwidth per algorithm bandwidth, as NCCL's tests have it: what each link must carry for a
 * message of one byte; 0 when that cannot be said. */
double collective_bus_factor(enum collective c, int64_t ranks);

#endif
