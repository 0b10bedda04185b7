/* profile.h: what a kernel does to the GPU, worked out from what Nsight Compute measured: work,
 * bytes, rates, how busy each part is, why warps wait, how full the SMs are. NaN is "not measured".
 */
#ifndef STRATA_DIVE_PROFILE_H
#define STRATA_DIVE_PROFILE_H

#include "dive/ncu_csv.h"

/* Parts of the GPU that can be the busiest. */
enum unit {
    UNIT_DRAM,
    UNIT_L2,
    UNIT_L1,
    UNIT_TENSOR,
    UNIT_FP32,
    UNIT_ALU,
    UNIT_FP64,
    UNIT_ISSUE,
    UNITS
};

const char *unit_name(enum unit u); /* "DRAM", "L2", "tensor pipe" ... */
const char *unit_key(enum unit u);  /* for JSON: "dram" ... */

struct stall_share {
    int stall;  /* of ncu_stall_names */
    double pct; /* of the time of its warps */
};

enum { PROFILE_STALLS = 4 };

struct profile {
    double time_ns;
    double flops;                /* of all precisions */
    double flops_of[PRECISIONS]; /* tensor cores included */
    double tensor_flops;         /* of them, done by tensor cores */
    enum precision main;         /* of most of the work; PRECISIONS when there is none */
    double bytes;                /* through DRAM */
    double l2_bytes;
    double flop_per_s, bytes_per_s, flop_per_byte;
    double busy_pct[UNITS];
    double memory_pct, sm_pct; /* ncu's own summaries */
    double occupancy_pct, occupancy_most_pct;
    const char *occupancy_limit; /* what keeps blocks off an SM; NULL when nothing does */
    double eligible_warps;
    double waves;
    double grid_blocks, sms;
    double active_share; /* cycles an SM has work in, of those the kernel takes */
    struct stall_share stalls[PROFILE_STALLS]; /* largest first; without what is not a wait */
    int n_stalls;
    double memory_stall_pct; /* waiting for memory: long scoreboard, full queues */
    double issuing_pct;      /* of warp time: issuing, or ready to */
    bool tensor_known, tensor_used;
};

/* Nothing measured. */
void profile_init(struct profile *p);

void profile_of(const struct ncu_launch *l, struct profile *ret);

#endif
