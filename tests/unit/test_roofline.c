/* test_roofline.c: how long kernels take at least, from shapes, names and their like. */
#include "analyze/kernels/roofline.h"

#include <math.h>

#include "analyze/kernels/headroom.h"
#include "kernel_kit.h"

#define ADD                                              \
    "void at::native::vectorized_elementwise_kernel<8, " \
    "at::native::CUDAFunctor_add<c10::BFloat16>, "       \
    "std::array<char*, 3ul> >(int)"

static struct {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct kernel_stats k;
} all;

static void look(struct kernel_kit *g)
{
    struct err e;
    err_init(&e);
    all.t = kernel_kit_end(g);
    arena_init(&all.mem);
    context_init(&all.cx, all.t, &all.mem);
    if (!CHECK_EQ_INT(kernel_stats_run(&all.cx, KERNEL_BY_NAME, &all.mem, &all.k, &e), 0))
        fprintf(stderr, "%s\n", e.msg);
}

static void done(void)
{
    context_done(&all.cx);
    arena_done(&all.mem);
    trace_free(all.t);
}

static row_t kernel(int n)
{
    for (row_t r = 0; r < all.t->n_rows; r++)
        if (all.t->kind[r] == KIND_KERNEL && n-- == 0) return r;
    return ROW_NONE;
}

/* 4096 cubed in bf16 is 137 GFLOP: 176 us at 780 TFLOP/s. */
TEST(a_product_is_held_against_the_rate_of_its_precision)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_call(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", BF16_2, "nvjet_sm90_tst", 200);
    kernel_kit_call(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", F32_2, "ampere_sgemm_128x64_nn",
                    4000);
    look(&g);
    const struct roofline *f = roofline_of(&all.cx);
    CHECK_NEAR(roofline_row_ns(f, all.t, kernel(0)), 2 * 68719476736.0 / 780e3, 1);
    CHECK_NEAR(roofline_row_ns(f, all.t, kernel(1)), 2 * 68719476736.0 / 51e3, 1);
    CHECK_EQ_INT(roofline_kind(f, all.t, kernel(1))->precision, FP32);
    CHECK_EQ_INT(all.k.rows[1].precision, HALF);
    CHECK_NEAR(all.k.rows[1].roof_pct, 88, 0.2);
    done();
}

/* An operator of the kernel's own has all that it reads and writes; the graph around it has not. */
TEST(a_fused_kernel_does_not_do_the_work_of_its_graph)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_call(&g, "CompiledFunction", "[[2, 64], [8192, 4096]]", BF16_2,
                    "triton_poi_fused_add_gelu_0", 50);
    kernel_kit_call(&g, "triton_poi_fused_mul_1", "[[8192, 4096], [8192, 4096]]", BF16_2,
                    "triton_poi_fused_mul_1", 50);
    look(&g);
    const struct roofline *f = roofline_of(&all.cx);
    CHECK(isnan(roofline_row_ns(f, all.t, kernel(0))));
    CHECK_NEAR(roofline_row_bytes(f, all.t, kernel(0)), 0, 0);
    CHECK_NEAR(roofline_row_bytes(f, all.t, kernel(1)), 2 * 2.0 * 8192 * 4096, 1);
    done();
}

/* The operator's kernels share its work; what adds up its parts does none of it. */
TEST(kernels_of_one_operator_share_its_roof)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_op(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", BF16_2);
    kernel_kit_run(&g, "nvjet_sm90_tst", 300);
    kernel_kit_run(&g, "splitKreduce_kernel", 100);
    look(&g);
    const struct roofline *f = roofline_of(&all.cx);
    double roof = 2 * 68719476736.0 / 780e3;
    CHECK_NEAR(roofline_row_ns(f, all.t, kernel(0)), roof * 0.75, 1);
    CHECK_NEAR(roofline_row_ns(f, all.t, kernel(1)), roof * 0.25, 1);
    CHECK_NEAR(roofline_row_flops(f, all.t, kernel(0)), 2 * 68719476736.0, 1);
    CHECK_NEAR(roofline_row_flops(f, all.t, kernel(1)), 0, 0);
    CHECK_NEAR(roofline_pct(f), 100 * roof / 400e3, 0.1);
    done();
}

TEST(without_shapes_the_name_and_the_launch_tell)
{
    struct kernel_kit g = kernel_kit_begin();
    g.grid[0] = 65536;
    kernel_kit_call(&g, "aten::add", NULL, NULL, ADD, 120);
    kernel_kit_call(&g, "aten::mm", NULL, NULL, "nvjet_sm90_tst", 100);
    look(&g);
    const struct roofline *f = roofline_of(&all.cx);
    CHECK_EQ_INT(roofline_kind(f, all.t, kernel(0))->from, ROOF_NAME);
    double bytes = 65536.0 * 128 * 8 * 2 * 3;
    CHECK_NEAR(roofline_row_bytes(f, all.t, kernel(0)), bytes, 1);
    CHECK_NEAR(roofline_row_ns(f, all.t, kernel(0)), bytes / 4270, 1);
    CHECK_EQ_INT(roofline_kind(f, all.t, kernel(1))->from, ROOF_UNKNOWN);
    CHECK(isnan(roofline_row_ns(f, all.t, kernel(1))));
    CHECK_EQ_INT(all.k.rows[1].known_ns, 0);
    done();
}

/* A guess that the memory cannot keep up with is none. */
/* Without shapes the elements of a kernel follow from its launch; how many a thread takes depends
 * on the version of torch, which kernels for eight give away. */
TEST(elements_per_thread_are_those_of_the_version)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_call(&g, "aten::mm", "[[64, 64], [64, 64]]", BF16_2, "nvjet_sm90_tst", 20);
    kernel_kit_call(&g, "aten::add", "", "", ADD, 20);
    look(&g);
    CHECK_EQ_INT(roofline_of(&all.cx)->per_thread, 8);
    done();
    g = kernel_kit_begin();
    kernel_kit_call(&g, "aten::mm", "[[64, 64], [64, 64]]", BF16_2, "nvjet_sm90_tst", 20);
    look(&g);
    CHECK_EQ_INT(roofline_of(&all.cx)->per_thread, 4);
    done();
}

TEST(impossible_guesses_are_dropped)
{
    struct kernel_kit g = kernel_kit_begin();
    g.grid[0] = 65536;
    kernel_kit_call(&g, "aten::add", NULL, NULL, ADD, 20);
    look(&g);
    CHECK_EQ_INT(roofline_kind(roofline_of(&all.cx), all.t, kernel(0))->from, ROOF_UNKNOWN);
    done();
}

TEST(the_same_launch_elsewhere_tells)
{
    struct kernel_kit g = kernel_kit_begin();
    g.grid[0] = 77;
    kernel_kit_call(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", BF16_2, "nvjet_sm90_tst", 200);
    kit_call(&g.k, "cudaGraphLaunch", g.cpu_us, 5);
    g.cpu_us += 10;
    kernel_kit_run(&g, "nvjet_sm90_tst", 220);
    look(&g);
    const struct roofline *f = roofline_of(&all.cx);
    CHECK_EQ_INT(roofline_kind(f, all.t, kernel(1))->from, ROOF_PEERS);
    CHECK_NEAR(roofline_row_ns(f, all.t, kernel(1)), roofline_row_ns(f, all.t, kernel(0)), 1);
    done();
}

TEST(attention_has_a_rate_of_its_own)
{
    struct ceilings c;
    ceilings_init(&c, str_c("NVIDIA H200"));
    ceilings_from_table(&c);
    CHECK_NEAR(roofline_attention_rate(&c, HALF, 64, false), 300e3, 1);
    CHECK_NEAR(roofline_attention_rate(&c, HALF, 128, false), 600e3, 1);
    CHECK_NEAR(roofline_attention_rate(&c, HALF, 0, false), 300e3, 1); /* of a head not known */
    CHECK(roofline_attention_rate(&c, HALF, 64, true) < 300e3);
    CHECK(roofline_attention_rate(&c, TF32, 64, false) < 100e3);
}

TEST(a_gpu_nobody_knows_has_no_roof)
{
    struct kernel_kit g = {.k = kit_begin(), .gpu_us = 50, .grid = {1, 1, 1}, .block = {128, 1, 1}};
    kernel_kit_call(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", BF16_2, "gemm", 200);
    look(&g);
    CHECK(isnan(roofline_pct(roofline_of(&all.cx))));
    CHECK_EQ_INT(all.k.rows[0].known_ns, 0);
    CHECK(all.k.rows[0].tflop_per_s > 600); /* what it reaches is known all the same */
    done();
}

/* What a faster kernel gains is what the wall clock gains. */
TEST(headroom_is_replayed)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 10; i++)
        kernel_kit_call(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", BF16_2, "nvjet_sm90_tst",
                        400);
    look(&g);
    CHECK_EQ_INT(headroom_run(&all.cx, &all.k, 4, NULL), 0);
    CHECK_NEAR((double)all.k.rows[0].wall_ns, 10 * (400e3 - 176206), 5000);
    CHECK_NEAR((double)all.k.rows[0].headroom_ns, 10 * (400e3 - 176206), 100);
    done();
}

static int report(void *ctx)
{
    struct arena mem;
    struct context cx;
    struct kernel_stats k;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = kernel_stats_run(&cx, KERNEL_BY_OP, &mem, &k, NULL);
    if (rc == 0) rc = headroom_run(&cx, &k, 4, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_call(&g, "aten::mm", "[[64, 64], [64, 64]]", BF16_2, "nvjet_sm90_tst", 40);
    kernel_kit_call(&g, "aten::add", NULL, NULL, ADD, 20);
    struct trace *t = kernel_kit_end(&g);
    CHECK_EVERY_ALLOC(report, t);
    trace_free(t);
}

TEST_MAIN
