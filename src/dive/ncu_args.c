/* ncu_args.c: see ncu_args.h. */
#include "dive/ncu_args.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/vec.h"

/* Sections adapt to the GPU and to ncu's version; what they lack is requested by name. */
static const char *const sections[] = {"LaunchStats", "Occupancy", "SchedulerStats",
                                       "WarpStateStats"};

#define PCT_ELAPSED ".avg.pct_of_peak_sustained_elapsed"
#define PCT_ACTIVE  ".avg.pct_of_peak_sustained_active"
#define THREADS(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"

static const char common_metrics[] =
    "gpu__time_duration.sum,gpu__compute_memory_throughput" PCT_ELAPSED
    ",gpu__dram_throughput" PCT_ELAPSED ",lts__throughput" PCT_ELAPSED
    ",l1tex__data_pipe_lsu_wavefronts" PCT_ELAPSED
    ",lts__t_bytes.sum,sm__pipe_tensor_cycles_active" PCT_ACTIVE
    ",sm__pipe_fma_cycles_active" PCT_ACTIVE ",sm__pipe_alu_cycles_active" PCT_ACTIVE
    ",sm__pipe_fp64_cycles_active" PCT_ACTIVE ",sm__cycles_active.avg,sm__cycles_elapsed.max"
    "," THREADS("fadd") "," THREADS("fmul") "," THREADS("ffma") "," THREADS("hadd") "," THREADS(
        "hmul") "," THREADS("hfma") "," THREADS("dadd") "," THREADS("dmul") "," THREADS("dfma");

/* Some names differ between generations, and ncu takes no name that it does not know. */
static const struct {
    int major;
    const char *metrics;
} by_generation[] = {
    {7, ",dram__bytes_read.sum,dram__bytes_write.sum"},
    {8, ",dram__bytes_read.sum,dram__bytes_write.sum"
        ",sm__ops_path_tensor_src_bf16_dst_fp32.sum,sm__ops_path_tensor_src_fp16_dst_fp32.sum"
        ",sm__ops_path_tensor_src_fp16_dst_fp16.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum"
        ",sm__ops_path_tensor_src_int8.sum"},
    {9, ",dram__bytes_read.sum,dram__bytes_write.sum"
        ",sm__ops_path_tensor_src_bf16_dst_fp32.sum,sm__ops_path_tensor_src_fp16.sum"
        ",sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_fp8.sum"},
    {10, ",dram__bytes_read.sum,dram__bytes_write.sum"
         ",sm__ops_path_tensor_src_bf16_dst_fp32.sum,sm__ops_path_tensor_src_fp16_dst_fp32.sum"
         ",sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32"
         ".sum"},
    {12, ",dram__bytes_op_read.sum,dram__bytes_op_write.sum"
         ",sm__ops_path_tensor_src_bf16_dst_fp32.sum,sm__ops_path_tensor_src_fp16_dst_fp32.sum"
         ",sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_fp8_dst_fp32.sum"},
};

struct list {
    struct arena *mem;
    char **args;
    size_t n, cap;
    bool failed;
};

static void ncu_args_add(struct list *l, const char *arg)
{
    char *copy = arg ? arena_strdup(l->mem, str_c(arg)) : NULL;
    if (!copy || VEC_RESERVE(l->args, l->n, l->cap, 2)) l->failed = true;
    else l->args[l->n++] = copy;
}

static void ncu_args_add_option(struct list *l, const char *name, const char *value)
{
    ncu_args_add(l, name);
    ncu_args_add(l, value);
}

/* Hands the list over in the arena. */
static int ncu_args_finish(struct list *l, char ***ret, struct err *e)
{
    char **kept = l->failed ? NULL : arena_zalloc(l->mem, l->n + 1, sizeof *kept);
    if (kept) memcpy(kept, l->args, l->n * sizeof *kept);
    mem_free(l->args);
    if (!kept) return err_nomem(e);
    *ret = kept;
    return 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void add_words(struct str name, struct buf *out)
{
    bool gap = false, any = false;
    for (size_t i = 0; i < name.n; i++) {
        if (!is_word(name.p[i])) {
            gap = true;
            continue;
        }
        if (gap && any) buf_adds(out, ".*");
        buf_addc(out, name.p[i]);
        gap = false;
        any = true;
    }
}

void ncu_args_names(const struct targets *targets, struct buf *out)
{
    buf_adds(out, "regex:");
    for (uint32_t i = 0; i < targets->n; i++) {
        if (i) buf_addc(out, '|');
        add_words(targets->all[i].short_name, out);
    }
}

uint32_t ncu_args_skip(const struct targets *targets)
{
    uint32_t skip = targets->n ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < targets->n; i++)
        if (targets->all[i].ordinal < skip) skip = targets->all[i].ordinal;
    return skip;
}

uint32_t ncu_args_count(const struct targets *targets)
{
    uint32_t skip = ncu_args_skip(targets), count = 1;
    for (uint32_t i = 0; i < targets->n; i++)
        if (targets->all[i].ordinal - skip >= count) count = targets->all[i].ordinal - skip + 1;
    return count < NCU_MOST_OF_A_SIZE ? count : NCU_MOST_OF_A_SIZE;
}

static void ncu_args_add_number(struct list *l, const char *name, uint32_t value)
{
    ncu_args_add_option(l, name, arena_printf(l->mem, "%u", value));
}

static void add_what(struct list *l, const struct targets *targets, const struct ncu_wish *w)
{
    struct buf names;
    buf_init(&names);
    ncu_args_names(targets, &names);
    l->failed |= !buf_ok(&names);
    ncu_args_add_option(l, "--kernel-name-base", "demangled");
    ncu_args_add_option(l, "--kernel-name", buf_c(&names));
    ncu_args_add_option(l, "--filter-mode", "per-launch-config");
    ncu_args_add_number(l, "--launch-skip", w->skip);
    ncu_args_add_number(l, "--launch-count", w->count);
    if (w->marked) ncu_args_add_option(l, "--profile-from-start", "off");
    buf_done(&names);
}

static void add_metrics(struct list *l, int major)
{
    const char *more = "";
    for (size_t i = 0; i < sizeof by_generation / sizeof *by_generation; i++)
        if (by_generation[i].major <= major) more = by_generation[i].metrics;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        ncu_args_add_option(l, "--section", sections[i]);
    ncu_args_add_option(l, "--metrics", arena_printf(l->mem, "%s%s", common_metrics, more));
}

int ncu_args_profile(const struct targets *targets, const struct ncu_wish *w, struct arena *mem,
                     char ***ret, struct err *e)
{
    struct list l = {.mem = mem};
    ncu_args_add(&l, w->ncu);
    ncu_args_add_option(&l, "--target-processes", "all");
    ncu_args_add_option(&l, "--clock-control", "none");
    ncu_args_add_option(&l, "--replay-mode", w->replay);
    ncu_args_add_option(&l, "--graph-profiling", "node");
    add_what(&l, targets, w);
    add_metrics(&l, w->major);
    ncu_args_add_option(&l, "--export", w->report);
    ncu_args_add_option(&l, "--log-file", w->log);
    for (int i = 0; w->command[i]; i++) ncu_args_add(&l, w->command[i]);
    return ncu_args_finish(&l, ret, e);
}

int ncu_args_import(const char *ncu, const char *report, struct arena *mem, char ***ret,
                    struct err *e)
{
    struct list l = {.mem = mem};
    ncu_args_add(&l, ncu);
    ncu_args_add_option(&l, "--import", report);
    ncu_args_add_option(&l, "--page", "raw");
    ncu_args_add_option(&l, "--print-units", "base");
    ncu_args_add(&l, "--csv");
    return ncu_args_finish(&l, ret, e);
}
