/* ncu_metric.c: see ncu_csv.h. */
#include "dive/ncu_csv.h"

#define PCT_ELAPSED        ".avg.pct_of_peak_sustained_elapsed"
#define PCT_ACTIVE         ".avg.pct_of_peak_sustained_active"
#define THREADS(op)        "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"
#define THREADS4(op)       "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum"
#define A_CYCLE(op)        THREADS4(op) ".per_cycle_elapsed"
#define DERIVED(op, times) "derived__smsp__sass_thread_inst_executed_op_" op "_pred_on_" times

/* Names for the same thing stand in order of preference. */
static const struct {
    enum ncu_metric metric;
    const char *name;
} names[] = {
    {NCU_TIME_NS, "gpu__time_duration.sum"},
    {NCU_TIME_NS, "gpu__time_duration.avg"},
    {NCU_TIME_NS, "gpu__time_duration_measured_wallclock.sum"},
    {NCU_DRAM_READ_BYTES, "dram__bytes_read.sum"},
    {NCU_DRAM_READ_BYTES, "dram__bytes_op_read.sum"},
    {NCU_DRAM_WRITE_BYTES, "dram__bytes_write.sum"},
    {NCU_DRAM_WRITE_BYTES, "dram__bytes_op_write.sum"},
    {NCU_DRAM_BYTES, "dram__bytes.sum"},
    {NCU_DRAM_BYTES_PER_S, "dram__bytes.sum.per_second"},
    {NCU_DRAM_PCT, "gpu__dram_throughput" PCT_ELAPSED},
    {NCU_DRAM_PCT, "dram__throughput" PCT_ELAPSED},
    {NCU_DRAM_PCT, "dram__cycles_active" PCT_ELAPSED},
    {NCU_MEMORY_PCT, "gpu__compute_memory_throughput" PCT_ELAPSED},
    {NCU_L2_PCT, "lts__throughput" PCT_ELAPSED},
    {NCU_L2_PCT, "lts__t_tag_requests" PCT_ELAPSED},
    {NCU_L2_BYTES, "lts__t_bytes.sum"},
    {NCU_L1_PCT, "l1tex__data_pipe_lsu_wavefronts" PCT_ELAPSED},
    {NCU_L1_PCT, "l1tex__throughput" PCT_ACTIVE},
    {NCU_SM_PCT, "sm__throughput" PCT_ELAPSED},
    {NCU_TENSOR_PCT, "sm__pipe_tensor_cycles_active" PCT_ACTIVE},
    {NCU_TENSOR_PCT, "sm__pipe_tensor_op_hmma_cycles_active" PCT_ACTIVE},
    {NCU_TENSOR_PCT, "sm__inst_executed_pipe_tensor" PCT_ACTIVE},
    {NCU_FMA_PCT, "sm__pipe_fma_cycles_active" PCT_ACTIVE},
    {NCU_FMA_PCT, "sm__inst_executed_pipe_fma" PCT_ACTIVE},
    {NCU_ALU_PCT, "sm__pipe_alu_cycles_active" PCT_ACTIVE},
    {NCU_ALU_PCT, "sm__inst_executed_pipe_alu" PCT_ACTIVE},
    {NCU_FP64_PCT, "sm__pipe_fp64_cycles_active" PCT_ACTIVE},
    {NCU_FP64_PCT, "sm__inst_executed_pipe_fp64" PCT_ACTIVE},
    {NCU_ISSUE_PCT, "smsp__issue_active" PCT_ACTIVE},
    {NCU_ISSUE_PCT, "sm__inst_issued" PCT_ACTIVE},
    {NCU_ELIGIBLE_WARPS, "smsp__warps_eligible.avg.per_cycle_active"},
    {NCU_OCCUPANCY_PCT, "sm__warps_active" PCT_ACTIVE},
    {NCU_OCCUPANCY_MOST_PCT, "sm__maximum_warps_per_active_cycle_pct"},
    {NCU_WAVES, "launch__waves_per_multiprocessor"},
    {NCU_LIMIT_BLOCKS, "launch__occupancy_limit_blocks"},
    {NCU_LIMIT_REGISTERS, "launch__occupancy_limit_registers"},
    {NCU_LIMIT_SHARED, "launch__occupancy_limit_shared_mem"},
    {NCU_LIMIT_WARPS, "launch__occupancy_limit_warps"},
    {NCU_LIMIT_BARRIERS, "launch__occupancy_limit_barriers"},
    {NCU_REGISTERS, "launch__registers_per_thread"},
    {NCU_SMS, "launch__sm_count"},
    {NCU_SMS, "device__attribute_multiprocessor_count"},
    {NCU_SM_ACTIVE_CYCLES, "sm__cycles_active.avg"},
    {NCU_ELAPSED_CYCLES, "sm__cycles_elapsed.max"},
    {NCU_ELAPSED_CYCLES, "gpc__cycles_elapsed.max"},
    {NCU_FADD, THREADS("fadd")},
    {NCU_FADD, THREADS4("fadd")},
    {NCU_FMUL, THREADS("fmul")},
    {NCU_FMUL, THREADS4("fmul")},
    {NCU_FFMA, THREADS("ffma")},
    {NCU_FFMA, THREADS4("ffma")},
    {NCU_HADD, THREADS("hadd")},
    {NCU_HADD, THREADS4("hadd")},
    {NCU_HMUL, THREADS("hmul")},
    {NCU_HMUL, THREADS4("hmul")},
    {NCU_HFMA, THREADS("hfma")},
    {NCU_HFMA, THREADS4("hfma")},
    {NCU_DADD, THREADS("dadd")},
    {NCU_DADD, THREADS4("dadd")},
    {NCU_DMUL, THREADS("dmul")},
    {NCU_DMUL, THREADS4("dmul")},
    {NCU_DFMA, THREADS("dfma")},
    {NCU_DFMA, THREADS4("dfma")},
    {NCU_FADD_A_CYCLE, A_CYCLE("fadd")},
    {NCU_FMUL_A_CYCLE, A_CYCLE("fmul")},
    {NCU_FFMA2_A_CYCLE, DERIVED("ffma", "x2")},
    {NCU_HADD2_A_CYCLE, DERIVED("hadd", "x2")},
    {NCU_HMUL2_A_CYCLE, DERIVED("hmul", "x2")},
    {NCU_HFMA4_A_CYCLE, DERIVED("hfma", "x4")},
    {NCU_DADD_A_CYCLE, A_CYCLE("dadd")},
    {NCU_DMUL_A_CYCLE, A_CYCLE("dmul")},
    {NCU_DFMA2_A_CYCLE, DERIVED("dfma", "x2")},
    {NCU_GRID_X, "launch__grid_dim_x"},
    {NCU_GRID_Y, "launch__grid_dim_y"},
    {NCU_GRID_Z, "launch__grid_dim_z"},
    {NCU_BLOCK_X, "launch__block_dim_x"},
    {NCU_BLOCK_Y, "launch__block_dim_y"},
    {NCU_BLOCK_Z, "launch__block_dim_z"},
};

/* `unit`: what the label's unit begins or ends with where the label alone says too little. */
static const struct {
    enum ncu_metric metric;
    const char *label;
    const char *unit;
} labels[] = {
    {NCU_TIME_NS, "Duration", NULL},
    {NCU_DRAM_BYTES_PER_S, "Memory Throughput", "byte/s"},
    {NCU_DRAM_PCT, "DRAM Throughput", "%"},
    {NCU_DRAM_PCT, "SOL DRAM", "%"},
    {NCU_MEMORY_PCT, "Memory Throughput", "%"},
    {NCU_MEMORY_PCT, "Memory [%]", NULL},
    {NCU_L2_PCT, "L2 Cache Throughput", "%"},
    {NCU_L2_PCT, "SOL L2 Cache", "%"},
    {NCU_L1_PCT, "L1/TEX Cache Throughput", "%"},
    {NCU_L1_PCT, "SOL L1/TEX Cache", "%"},
    {NCU_SM_PCT, "Compute (SM) Throughput", "%"},
    {NCU_SM_PCT, "SM [%]", NULL},
    {NCU_SM_PCT, "SOL SM", "%"},
    {NCU_ISSUE_PCT, "One or More Eligible", "%"},
    {NCU_ISSUE_PCT, "Issue Slots Busy", "%"},
    {NCU_ELIGIBLE_WARPS, "Eligible Warps Per Scheduler", NULL},
    {NCU_OCCUPANCY_PCT, "Achieved Occupancy", "%"},
    {NCU_OCCUPANCY_MOST_PCT, "Theoretical Occupancy", "%"},
    {NCU_WAVES, "Waves Per SM", NULL},
    {NCU_LIMIT_BLOCKS, "Block Limit SM", NULL},
    {NCU_LIMIT_REGISTERS, "Block Limit Registers", NULL},
    {NCU_LIMIT_SHARED, "Block Limit Shared Mem", NULL},
    {NCU_LIMIT_WARPS, "Block Limit Warps", NULL},
    {NCU_LIMIT_BARRIERS, "Block Limit Barriers", NULL},
    {NCU_REGISTERS, "Registers Per Thread", NULL},
    {NCU_SMS, "# SMs", NULL},
    {NCU_SM_ACTIVE_CYCLES, "SM Active Cycles", NULL},
    {NCU_ELAPSED_CYCLES, "Elapsed Cycles", NULL},
};

const char *const ncu_stall_names[NCU_STALLS] = {
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "gmma",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
    "warpgroup_arrive",
};

const char *ncu_stall_about(int stall)
{
    static const char *const about[NCU_STALLS] = {
        "waits for the other warps of its block",
        "waits for a branch to be resolved",
        "is held back by the dispatcher",
        "waits for its stores to finish",
        "waits for the tensor cores",
        "waits for a constant",
        "waits on a full queue to memory",
        "waits for data from memory",
        "waits for a busy arithmetic unit",
        "waits for a memory barrier",
        "waits on a full queue to shared memory and special functions",
        "other",
        "waits for instructions",
        "is ready, but another warp is chosen",
        "issues",
        "waits for shared memory or special functions",
        "sleeps",
        "waits on a full queue to the texture unit",
        "waits a fixed time between dependent instructions",
        "waits for its warp group",
    };
    return stall >= 0 && stall < NCU_STALLS ? about[stall] : "";
}

/* "smsp__average_warps_issue_stalled_REASON_per_issue_active.ratio", and _latency_ before. */
static int stall_of(struct str name)
{
    static const char *const heads[] = {"smsp__average_warps_issue_stalled_",
                                        "smsp__average_warp_latency_issue_stalled_"};
    static const char *const tails[] = {"_per_issue_active.ratio", ".ratio"};
    for (size_t i = 0; i < 2; i++) {
        if (!str_starts(name, heads[i]) || !str_ends(name, tails[i])) continue;
        size_t head = strlen(heads[i]), tail = strlen(tails[i]);
        if (head + tail > name.n) continue;
        struct str reason = str_from(name.p + head, name.n - head - tail);
        for (int k = 0; k < NCU_STALLS; k++)
            if (str_is(reason, ncu_stall_names[k])) return k;
    }
    return -1;
}

/* "sm__ops_path_tensor_[op_KIND_]src_TYPE[_dst_TYPE].sum" */
static void find_tensor(struct str name, struct ncu_place *p)
{
    static const struct {
        const char *type;
        enum precision precision;
    } types[] = {{"src_bf16", HALF}, {"src_fp16", HALF}, {"src_tf32", TF32},      {"src_fp8", FP8},
                 {"src_int8", INT8}, {"src_fp64", FP64}, {"src_fp4_fp6_fp8", FP8}};
    if (!str_starts(name, "sm__ops_path_tensor_") || !str_ends(name, ".sum")) return;
    if (str_has(name, "sparsity") || str_has(name, "realtime")) return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_has(name, types[i].type)) p->tensor_of = types[i].precision;
    p->tensor_part = str_starts(name, "sm__ops_path_tensor_op_");
}

struct ncu_place ncu_place_of(struct str name)
{
    struct ncu_place p = {NCU_NONE, 0, -1, PRECISIONS, false};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i].name)) p.metric = names[i].metric, p.rank = (int)i;
    if (p.metric == NCU_NONE) p.stall = stall_of(name);
    if (p.metric == NCU_NONE && p.stall < 0) find_tensor(name, &p);
    return p;
}

enum ncu_metric ncu_label_metric(struct str label, struct str unit)
{
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (str_is(label, labels[i].label) && (!labels[i].unit || str_has(unit, labels[i].unit)))
            return labels[i].metric;
    return NCU_NONE;
}

double ncu_unit_scale(struct str unit)
{
    static const struct {
        const char *unit;
        double scale;
    } times[] = {{"nsecond", 1}, {"ns", 1},       {"usecond", 1e3}, {"us", 1e3}, {"msecond", 1e6},
                 {"ms", 1e6},    {"second", 1e9}, {"s", 1e9},       {"sec", 1e9}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (str_is(unit, times[i].unit)) return times[i].scale;
    static const char *const scaled[] = {"byte", "hz", "B"};
    static const struct {
        char letter;
        double scale;
    } prefixes[] = {{'K', 1e3}, {'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++)
        for (size_t k = 0; unit.n && k < sizeof prefixes / sizeof *prefixes; k++)
            if (unit.p[0] == prefixes[k].letter &&
                str_starts(str_from(unit.p + 1, unit.n - 1), scaled[i]))
                return prefixes[k].scale;
    return 1;
}
