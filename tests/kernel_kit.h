/* kernel_kit.h: operators with shapes and the kernels they launch, for tests of rules about
 * kernels.
 *
 *     struct kernel_kit g = kernel_kit_begin();
 *     kernel_kit_op(&g, "aten::mm", "[[64, 64], [64, 64]]", BF16_2);
 *     kernel_kit_run(&g, "nvjet_sm90_tst", 100);            one after the other, the device is busy
 *     struct trace *t = kernel_kit_end(&g);
 *
 * The device is an H200. An operator lasts 10 us and launches whatever follows it. */
#ifndef STRATA_TESTS_KERNEL_KIT_H
#define STRATA_TESTS_KERNEL_KIT_H

#include "kit.h"

#define BF16_2 "[\"c10::BFloat16\", \"c10::BFloat16\"]"
#define F32_2  "[\"float\", \"float\"]"

struct kernel_kit {
    struct kit k;
    double cpu_us, gpu_us; /* now on both sides */
    uint32_t grid[3], block[3];
    int64_t sequence; /* of operators that autograd takes note of; 0: it does not */
};

static inline struct kernel_kit kernel_kit_begin(void)
{
    struct kernel_kit g = {.k = kit_begin(), .gpu_us = 50, .grid = {1, 1, 1}, .block = {128, 1, 1}};
    struct device d = {.name = builder_intern(g.k.b, str_c("NVIDIA H200")),
                       .major = 9,
                       .n_sms = 132,
                       .warp_size = 32,
                       .max_threads_per_sm = 2048,
                       .regs_per_sm = 65536,
                       .shared_per_sm = 233472};
    CHECK_EQ_INT(builder_add_device(g.k.b, &d), 0);
    return g;
}

static inline struct trace *kernel_kit_end(struct kernel_kit *g)
{
    return kit_end(&g->k);
}

static inline str_id kernel_kit_text(struct kernel_kit *g, const char *text)
{
    return text ? intern_add(batch_strings(g->k.p), str_c(text)) : STR_NONE;
}

static inline void kernel_kit_op_around(struct kernel_kit *g, const char *name, const char *dims,
                                        const char *types, double dur_us)
{
    struct op_info op = {ID_NONE,
                         g->sequence ? g->sequence++ : ID_NONE,
                         0,
                         kernel_kit_text(g, dims),
                         kernel_kit_text(g, types),
                         kernel_kit_text(g, "[]")};
    kit_row(&g->k, KIND_OP, name, g->cpu_us, dur_us, &op);
    g->cpu_us += 1;
}

static inline void kernel_kit_op(struct kernel_kit *g, const char *name, const char *dims,
                                 const char *types)
{
    kernel_kit_op_around(g, name, dims, types, 10);
}

/* A kernel of the operator before it. */
static inline void kernel_kit_run(struct kernel_kit *g, const char *kernel, double us)
{
    g->k.call_us = 2;
    kit_call(&g->k, "cudaLaunchKernel", g->cpu_us, 2);
    struct gpu_info info = {.correlation = g->k.correlation,
                            .external_id = ID_NONE,
                            .bytes = -1,
                            .graph_id = ID_NONE,
                            .graph_node = ID_NONE,
                            .stream = 7,
                            .occupancy_pct = -1,
                            .launch = ROW_NONE};
    memcpy(info.grid, g->grid, sizeof info.grid);
    memcpy(info.block, g->block, sizeof info.block);
    double begin = g->gpu_us > g->cpu_us + 8 ? g->gpu_us : g->cpu_us + 8;
    kit_row(&g->k, KIND_KERNEL, kernel, begin, us, &info);
    g->gpu_us = begin + us + 1;
    g->cpu_us += 3;
}

/* An operator with one kernel; the next one begins after it. */
static inline void kernel_kit_call(struct kernel_kit *g, const char *op, const char *dims,
                                   const char *types, const char *kernel, double us)
{
    double begin = g->cpu_us;
    kernel_kit_op(g, op, dims, types);
    kernel_kit_run(g, kernel, us);
    g->cpu_us = begin + 11;
}

#endif
