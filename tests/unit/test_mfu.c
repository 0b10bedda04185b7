/* test_mfu.c: the operations of a step, and the share of the device's rate that they use. */
#include "analyze/answer/mfu.h"

#include <math.h>

#include "kernel_kit.h"

#define SIZES   "[[4096, 4096], [4096, 4096]]"
#define PRODUCT (2.0 * 4096 * 4096 * 4096)
#define BF16_3  "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]"

static struct {
    struct trace *t;
    struct arena mem;
    struct context cx;
} all;

static const struct mfu *look(struct kernel_kit *g)
{
    all.t = kernel_kit_end(g);
    arena_init(&all.mem);
    context_init(&all.cx, all.t, &all.mem);
    CHECK_EQ_INT(context_need(&all.cx, &mfu_pass, NULL), 0);
    return mfu_of(&all.cx);
}

static void done(void)
{
    context_done(&all.cx);
    arena_done(&all.mem);
    trace_free(all.t);
}

static double all_flop(const struct mfu *m)
{
    return m->flop;
}

/* 20 products of 200 us with nothing between them: 137 GFLOP each at 687 TFLOP/s. */
TEST(utilization_is_a_share_of_the_datasheet)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 20; i++) kernel_kit_call(&g, "aten::mm", SIZES, BF16_2, "nvjet_tst", 200);
    const struct mfu *m = look(&g);
    CHECK(m->known);
    CHECK_NEAR(all_flop(m), 20 * PRODUCT, 1);
    CHECK_NEAR(fmod(m->step_flop, PRODUCT), 0, 1);
    CHECK_NEAR(m->peak_per_s, 989e12, 1e6);
    CHECK_NEAR(m->reach_per_s, 780e12, 1e6);
    CHECK_NEAR(m->pct, 100 * PRODUCT / 200e-6 / 989e12, 4);
    CHECK_NEAR(m->reach_pct, m->pct * 989 / 780, 0.1);
    CHECK_EQ_INT(m->precision, HALF);
    CHECK_NEAR(m->known_pct, 100, 0.01);
    done();
}

/* aten::linear around aten::addmm, with a kernel that only converts. */
TEST(operators_inside_one_another_count_once)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_op_around(&g, "aten::linear", SIZES, BF16_2, 30);
    kernel_kit_op(&g, "aten::addmm", "[[4096], [4096, 4096], [4096, 4096]]", BF16_3);
    kernel_kit_run(&g, "nvjet_tst", 200);
    kernel_kit_run(&g, "splitKreduce_kernel", 20);
    CHECK_NEAR(all_flop(look(&g)), PRODUCT, 1);
    done();
}

/* As FlopCounterMode: it does not know that half of it is masked. */
TEST(causal_attention_counts_in_full)
{
    struct kernel_kit g = kernel_kit_begin();
    struct op_info op = {
        ID_NONE,
        ID_NONE,
        0,
        kernel_kit_text(&g, "[[2, 16, 1024, 64], [2, 16, 1024, 64], [2, 16, "
                            "1024, 64], [], []]"),
        kernel_kit_text(&g, "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\", "
                            "\"Scalar\", \"Scalar\"]"),
        kernel_kit_text(&g, "[\"\", \"\", \"\", \"0.\", \"True\"]")};
    kit_row(&g.k, KIND_OP, "aten::_scaled_dot_product_flash_attention", g.cpu_us, 10, &op);
    g.cpu_us += 1;
    kernel_kit_run(&g, "flash_fwd_kernel", 100);
    CHECK_NEAR(all_flop(look(&g)), 4.0 * 2 * 16 * 1024 * 1024 * 64, 1);
    done();
}

/* A tenth of the time is spent in a product that nobody knows the size of. */
TEST(work_that_is_not_known_gives_no_figure)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 9; i++) kernel_kit_call(&g, "aten::mm", SIZES, BF16_2, "nvjet_tst", 200);
    kernel_kit_call(&g, "other::mm", NULL, NULL, "cutlass_gemm", 200);
    const struct mfu *m = look(&g);
    CHECK(!m->known);
    CHECK_NEAR(m->known_pct, 90, 0.1);
    CHECK(isnan(m->pct));
    done();
}

/* Recorded, but not run on the device: a capture, or a product of the CPU beside a GPU. */
TEST(operators_without_kernels_do_not_count)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_op(&g, "aten::mm", SIZES, BF16_2);
    g.cpu_us += 20;
    kernel_kit_call(&g, "aten::mm", SIZES, BF16_2, "nvjet_tst", 200);
    CHECK_NEAR(all_flop(look(&g)), PRODUCT, 1);
    done();
}

/* Its like in the same trace has shapes. */
TEST(a_launch_without_shapes_counts_as_its_like)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_call(&g, "aten::mm", SIZES, BF16_2, "nvjet_tst", 200);
    kernel_kit_call(&g, "aten::mm", NULL, NULL, "nvjet_tst", 200);
    const struct mfu *m = look(&g);
    CHECK(m->known);
    CHECK_NEAR(all_flop(m), 2 * PRODUCT, 1);
    done();
}

/* TF32 is half of the rate of 16 bits; a GPU without a datasheet has no utilization. */
TEST(datasheets_by_name_and_precision)
{
    struct ceilings c;
    ceilings_init(&c, str_c("NVIDIA H100 PCIe"));
    ceilings_from_table(&c);
    CHECK_NEAR(ceilings_datasheet(&c, HALF), 756e12, 1e6);
    CHECK_NEAR(ceilings_datasheet(&c, TF32), 378e12, 1e6);
    CHECK_NEAR(ceilings_datasheet(&c, FP8), 1512e12, 1e6);
    CHECK(isnan(ceilings_datasheet(&c, FP64)));
    ceilings_init(&c, str_c("Tesla V100-SXM2-16GB"));
    ceilings_from_table(&c);
    CHECK_NEAR(ceilings_datasheet(&c, HALF), 125e12, 1e6);
    CHECK(isnan(ceilings_datasheet(&c, TF32)));
    ceilings_init(&c, str_c("Some other GPU"));
    ceilings_from_table(&c);
    CHECK(isnan(ceilings_datasheet(&c, HALF)));
}

static int everything(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &mfu_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 4; i++) kernel_kit_call(&g, "aten::mm", SIZES, BF16_2, "nvjet_tst", 200);
    struct trace *t = kernel_kit_end(&g);
    CHECK_EVERY_ALLOC(everything, t);
    trace_free(t);
}

TEST_MAIN
