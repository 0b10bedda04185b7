/* ncu_metric.h: the metrics of Nsight Compute that a dive reads, under the names that its versions
 * and GPU generations have for them.
 *
 * The raw page has metric names ("dram__bytes_read.sum"), the details page labels ("DRAM
 * Throughput"); both lead to the same numbers here, in base units: ns, bytes, %, Hz. */
#ifndef STRATA_DIVE_NCU_METRIC_H
#define STRATA_DIVE_NCU_METRIC_H

#include "analyze/kernels/ceilings.h"
#include "base/str.h"

enum ncu_metric {
    NCU_TIME_NS,
    NCU_DRAM_READ_BYTES,
    NCU_DRAM_WRITE_BYTES,
    NCU_DRAM_BYTES, /* both, where they are not distinguished */
    NCU_DRAM_BYTES_PER_S,
    NCU_DRAM_PCT,
    NCU_MEMORY_PCT, /* the busiest part of the memory system */
    NCU_L2_PCT,
    NCU_L2_BYTES,
    NCU_L1_PCT,
    NCU_SM_PCT, /* the busiest part of the SMs */
    NCU_TENSOR_PCT,
    NCU_FMA_PCT,
    NCU_ALU_PCT,
    NCU_FP64_PCT,
    NCU_ISSUE_PCT,
    NCU_ELIGIBLE_WARPS, /* a scheduler, a cycle */
    NCU_OCCUPANCY_PCT,
    NCU_OCCUPANCY_MOST_PCT, /* with enough blocks */
    NCU_WAVES,
    NCU_LIMIT_BLOCKS, /* blocks an SM has room for, by what limits them */
    NCU_LIMIT_REGISTERS,
    NCU_LIMIT_SHARED,
    NCU_LIMIT_WARPS,
    NCU_LIMIT_BARRIERS,
    NCU_REGISTERS,
    NCU_SMS,
    NCU_SM_ACTIVE_CYCLES, /* mean over SMs */
    NCU_ELAPSED_CYCLES,
    NCU_FADD, /* thread instructions */
    NCU_FMUL,
    NCU_FFMA,
    NCU_HADD,
    NCU_HMUL,
    NCU_HFMA,
    NCU_DADD,
    NCU_DMUL,
    NCU_DFMA,
    NCU_FADD_A_CYCLE, /* the same as reports of whole sections have them; all SMs together */
    NCU_FMUL_A_CYCLE,
    NCU_FFMA2_A_CYCLE, /* counted twice */
    NCU_HADD2_A_CYCLE,
    NCU_HMUL2_A_CYCLE,
    NCU_HFMA4_A_CYCLE,
    NCU_DADD_A_CYCLE,
    NCU_DMUL_A_CYCLE,
    NCU_DFMA2_A_CYCLE,
    NCU_GRID_X,
    NCU_GRID_Y,
    NCU_GRID_Z,
    NCU_BLOCK_X,
    NCU_BLOCK_Y,
    NCU_BLOCK_Z,
    NCU_METRICS,
    NCU_NONE = NCU_METRICS
};

/* Why a warp did not issue; in the order of names. */
enum { NCU_STALLS = 20 };
extern const char *const ncu_stall_names[NCU_STALLS]; /* "long_scoreboard" ... */
const char *ncu_stall_about(int stall);               /* "waits for data from memory" ... */

/* Where the value under a name of the raw page belongs. */
struct ncu_place {
    enum ncu_metric metric;   /* NCU_NONE when it is one of the others, or nothing we read */
    int rank;                 /* of names for one metric the lowest one present is meant */
    int stall;                /* -1 */
    enum precision tensor_of; /* operations of the tensor cores; PRECISIONS when it is not */
    bool tensor_part;         /* of one kind of instruction; else of all of them */
};

struct ncu_place ncu_place_of(struct str name);

/* The same for a label of the details page; its unit tells labels with two meanings apart. */
enum ncu_metric ncu_label_metric(struct str label, struct str unit);

/* What a value in this unit is to be multiplied with: 1e9 for "Gbyte/s", 1e3 for "us". */
double ncu_unit_scale(struct str unit);

#endif
