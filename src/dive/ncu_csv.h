/* ncu_csv.h: reading what `ncu --csv` prints: the raw page (one row a launch, one column a metric)
 * and the details page (one row a metric). Lines of talk before the table, a row of units, numbers
 * in any locale and rows of any length are all met in the wild; what is not understood is left
 * out. */
#ifndef STRATA_DIVE_NCU_CSV_H
#define STRATA_DIVE_NCU_CSV_H

#include <stdint.h>

#include "analyze/kernels/ceilings.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* ncu_metric.c: the metrics of Nsight Compute that a dive reads, under the names that its versions
 * and GPU generations have for them.
 *
 * The raw page has metric names ("dram__bytes_read.sum"), the details page labels ("DRAM
 * Throughput"); both lead to the same numbers here, in base units: ns, bytes, %, Hz. */

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

/* A kernel launch as it was measured. Values that are not there are NaN. */
struct ncu_launch {
    int64_t id;
    struct str name; /* as ncu writes it: not as a trace does */
    uint32_t grid[3], block[3];
    int major, minor; /* compute capability; 0 when not written */
    struct str gpu;   /* .n is 0 when not written */
    double value[NCU_METRICS];
    double stall[NCU_STALLS];           /* warps, a scheduler and instruction issued */
    double tensor_ops[PRECISIONS];      /* operations of tensor cores */
    double tensor_part_ops[PRECISIONS]; /* the same, added up over kinds of instruction */
};

enum ncu_page { NCU_PAGE_RAW, NCU_PAGE_DETAILS };

struct ncu_report {
    enum ncu_page page;
    struct ncu_launch *launches; /* in the order they ran */
    uint32_t n_launches;
    uint32_t n_metrics; /* columns or labels that were understood */
};

#define NCU_MOST_LAUNCHES 100000u

/* Everything in `ret` lives in `mem` or points into `text`. ERR_FORMAT when there is no table;
 * a table without rows is not an error. */
int ncu_csv_read(struct str text, struct arena *mem, struct ncu_report *ret,
                 struct err *e) MUST_USE;

/* Whether the text has the head of such a table in its first lines. */
bool ncu_csv_is(struct str text);

#endif
