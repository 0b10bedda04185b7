/* test_rules_kernels.c: rules about what kernels leave: one trace on which each fires, with the
 * gain it predicts, and near misses on which it must not. The device is an H200. */
#include "analyze/recorded/recorded.h"
#include "diagnosis.h"
#include "import/import.h"
#include "kernel_kit.h"

#define COPY \
    "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda>"
#define VECTORIZED "void at::native::vectorized_elementwise_kernel<8, at::native::"
#define THREE      "std::array<char*, 3ul> >"
#define STRIDED    "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>"
#define MUL        "void at::native::vectorized_elementwise_kernel<8, MulFunctor<c10::BFloat16> >"
#define SOFTMAX    "cunn_SoftMaxForward<8, float, float, float, SoftMaxForwardEpilogue>"
#define GEMM       "nvjet_sm90_tst_256x128_64x4"
#define SGEMM      "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x8_ffma_aligna4"

static const struct finding *only(struct diagnosis *d, struct kernel_kit *g, const char *rule)
{
    diagnose(d, kernel_kit_end(g));
    return found(d, rule);
}

static void check_gain(struct kernel_kit *g, const char *rule, double pct, double off)
{
    struct diagnosis d;
    const struct finding *f = only(&d, g, rule);
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, pct, off);
        CHECK(f->device_ns > 0);
        CHECK_EQ_INT(f->severity, pct >= 10 ? SEVERITY_HIGH : SEVERITY_MEDIUM);
    }
    done(&d);
}

static void check_silent(struct kernel_kit *g, const char *rule)
{
    struct diagnosis d;
    CHECK(only(&d, g, rule) == NULL);
    done(&d);
}

/* Rounds of layers that stay as they are. */
static void layer(struct kernel_kit *g, double us)
{
    kernel_kit_call(g, "aten::mm", "[[4096, 4096], [4096, 4096]]", BF16_2, GEMM, us);
}

/* ---- unfused_attention ---- */

/* 32 heads of 64 with 2048 queries and keys: 34 GFLOP, 115 us when fused. */
static void attention(struct kernel_kit *g, const char *second)
{
    const char *weights = "[[32, 2048, 2048], [], []]";
    kernel_kit_call(g, "aten::bmm", "[[32, 2048, 64], [32, 64, 2048]]", BF16_2, GEMM, 200);
    kernel_kit_call(g, "aten::mul", weights, BF16_2, MUL, 130);
    kernel_kit_call(g, "aten::_softmax", weights, BF16_2, SOFTMAX, 300);
    kernel_kit_call(g, "aten::bmm", second, BF16_2, GEMM, 200);
}

TEST(unfused_attention_fires_on_a_softmax_between_products)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        attention(&g, "[[32, 2048, 2048], [32, 2048, 64]]");
        layer(&g, 180);
    }
    check_gain(&g, "unfused_attention", 100 * (830 - 118.0) / (830 + 180 + 5), 3);
}

TEST(unfused_attention_fires_on_the_math_path)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        double begin = g.cpu_us;
        kernel_kit_op_around(&g, "aten::_scaled_dot_product_attention_math",
                             "[[1, 32, 2048, 64], [1, 32, 2048, 64], [1, 32, 2048, 64]]",
                             "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]", 60);
        kernel_kit_call(&g, "aten::copy_", "[[32, 2048, 64], [32, 2048, 64]]", BF16_2, COPY, 50);
        attention(&g, "[[32, 2048, 2048], [32, 2048, 64]]");
        g.cpu_us = begin + 70;
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_attention");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 100 * (880 - 118.0) / 885, 3);
        CHECK(strstr(f->fix, "sdpa_kernel(MATH)") != NULL);
    }
    done(&d);
}

/* What runs between the kernels and does not touch the weights stays. */
TEST(unfused_attention_leaves_what_is_not_of_it)
{
    struct kernel_kit g = kernel_kit_begin();
    const char *weights = "[[32, 2048, 2048], [], []]";
    for (int i = 0; i < 8; i++) {
        kernel_kit_call(&g, "aten::bmm", "[[32, 2048, 64], [32, 64, 2048]]", BF16_2, GEMM, 200);
        kernel_kit_call(&g, "aten::mul", "[[2048, 64], []]", BF16_2, MUL, 400);
        kernel_kit_call(&g, "aten::_softmax", weights, BF16_2, SOFTMAX, 300);
        kernel_kit_call(&g, "aten::bmm", "[[32, 2048, 2048], [32, 2048, 64]]", BF16_2, GEMM, 200);
    }
    check_gain(&g, "unfused_attention", 100 * (700 - 118.0) / (700 + 400 + 4), 3);
}

static bool has_evidence(const struct finding *f, const char *text)
{
    bool found = false;
    for (uint32_t i = 0; i < f->n_evidence; i++) found |= strstr(f->evidence[i].text, text) != NULL;
    return found;
}

/* 32 heads with 2048 keys, then one with 512: 134 million elements are said, not 262 thousand. */
TEST(unfused_attention_says_how_large_the_largest_is)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 4; i++) attention(&g, "[[32, 2048, 2048], [32, 2048, 64]]");
    kernel_kit_call(&g, "aten::bmm", "[[1, 512, 64], [1, 64, 512]]", BF16_2, GEMM, 50);
    kernel_kit_call(&g, "aten::_softmax", "[[1, 512, 512], [], []]", BF16_2, SOFTMAX, 50);
    kernel_kit_call(&g, "aten::bmm", "[[1, 512, 512], [1, 512, 64]]", BF16_2, GEMM, 50);
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_attention");
    if (CHECK(f != NULL)) {
        CHECK(strstr(f->why, "5 calls of") != NULL);
        CHECK(has_evidence(f, "matrix has 134"));
    }
    done(&d);
}

/* The weights are not used by a product: a router, a classifier. */
TEST(unfused_attention_near_miss_the_weights_go_elsewhere)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        attention(&g, "[[32, 2048, 777], [32, 777, 64]]");
        layer(&g, 180);
    }
    check_silent(&g, "unfused_attention");
}

TEST(unfused_attention_without_shapes)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_run(&g, GEMM, 200);
        kernel_kit_run(&g, SOFTMAX, 300);
        kernel_kit_run(&g, GEMM, 180);
        kernel_kit_run(&g, GEMM, 500);
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_attention");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 100 * (680 - 180.0) / (1180 + 4), 3);
        CHECK_EQ_INT(f->severity, SEVERITY_HIGH);
        CHECK(!has_evidence(f, "attention matrix")); /* how large is not known */
    }
    done(&d);
}

/* Something is launched between the kernels that stays: so does the CPU time around it. */
TEST(unfused_attention_keeps_the_launches_around_other_work)
{
    double gain[2];
    for (int other = 0; other < 2; other++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int i = 0; i < 8; i++) {
            kernel_kit_call(&g, "aten::bmm", "[[32, 256, 64], [32, 64, 256]]", BF16_2, GEMM, 6);
            for (int k = 0; k < 6; k++)
                kernel_kit_call(&g, "aten::mul", "[[32, 256, 256], []]", BF16_2, MUL, 6);
            if (other) kernel_kit_call(&g, "aten::mul", "[[64, 64], []]", BF16_2, MUL, 1);
            kernel_kit_call(&g, "aten::_softmax", "[[32, 256, 256], []]", BF16_2, SOFTMAX, 6);
            kernel_kit_call(&g, "aten::bmm", "[[32, 256, 256], [32, 256, 64]]", BF16_2, GEMM, 6);
            g.cpu_us += 200;
        }
        struct diagnosis d;
        const struct finding *f = only(&d, &g, "unfused_attention");
        gain[other] = f ? f->gain_pct : 0;
        done(&d);
    }
    CHECK(gain[0] > 15);
    CHECK(gain[1] < 1); /* the CPU is what takes the time, and it does not get faster */
}

/* One product between two softmaxes belongs to the second one; a small softmax is a classifier's.
 */
TEST(unfused_attention_near_miss_without_shapes)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_run(&g, GEMM, 200);
        kernel_kit_run(&g, SOFTMAX, 300);
    }
    check_silent(&g, "unfused_attention");
    g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_run(&g, GEMM, 200);
        kernel_kit_run(&g, SOFTMAX, 20);
        kernel_kit_run(&g, GEMM, 200);
        kernel_kit_run(&g, GEMM, 200);
    }
    check_silent(&g, "unfused_attention");
    g = kernel_kit_begin(); /* a short product behind it is none of its own */
    for (int i = 0; i < 8; i++) {
        kernel_kit_run(&g, GEMM, 200);
        kernel_kit_run(&g, SOFTMAX, 70);
        kernel_kit_run(&g, GEMM, 200);
        kernel_kit_run(&g, GEMM, 100);
    }
    check_silent(&g, "unfused_attention");
}

/* ---- slow_attention ---- */

static void fused(struct kernel_kit *g, const char *types, const char *mask, double us)
{
    char dims[256];
    snprintf(dims, sizeof dims, "[[1, 32, 2048, 64], [1, 32, 2048, 64], [1, 32, 2048, 64], %s]",
             mask);
    kernel_kit_call(g, "aten::_scaled_dot_product_efficient_attention", dims, types,
                    "fmha_cutlassF", us);
}

#define BF16_4 "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]"
#define F32_3  "[\"float\", \"float\", \"float\", \"\"]"

TEST(slow_attention_fires_on_float32)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) fused(&g, F32_3, "[]", 1000);
    check_gain(&g, "slow_attention", 100 * (1000 - 114.5) / 1001, 2);
}

static void masked_loop(struct kernel_kit *g, const char *cut)
{
    for (int i = 0; i < 8; i++) {
        kernel_kit_call(g, cut, "[[2048, 2048]]", BF16_2, "triu_tril_kernel", 20);
        fused(g, BF16_4, "[1, 32, 2048, 2048]", 200);
        layer(g, 180);
    }
}

TEST(slow_attention_fires_on_a_causal_mask)
{
    struct kernel_kit g = kernel_kit_begin();
    masked_loop(&g, "aten::triu");
    check_gain(&g, "slow_attention", 100 * (220 - 57.3) / 403, 3);
}

/* Some other mask, or none. */
TEST(slow_attention_near_miss)
{
    struct kernel_kit g = kernel_kit_begin();
    masked_loop(&g, "aten::masked_fill");
    check_silent(&g, "slow_attention");
    g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) fused(&g, BF16_4, "[]", 120);
    check_silent(&g, "slow_attention");
    g = kernel_kit_begin(); /* shapes that leave nothing to compute say nothing about its time */
    for (int i = 0; i < 8; i++)
        kernel_kit_call(&g, "aten::_scaled_dot_product_efficient_attention",
                        "[[1, 32, 0, 64], [1, 32, 2048, 64], [1, 32, 2048, 64], []]", F32_3,
                        "fmha_cutlassF", 1000);
    check_silent(&g, "slow_attention");
}

/* ---- float32_products ---- */

TEST(float32_products_fires_and_says_that_numerics_change)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++)
        kernel_kit_call(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", F32_2, SGEMM, 2700);
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "float32_products");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 86.6, 2); /* as measured */
        CHECK(strstr(f->not_fixed, "numerics") != NULL);
        CHECK(strstr(f->fix, "TF32") != NULL);
    }
    done(&d);
}

TEST(float32_products_fires_on_half_inputs_computed_in_float32)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_op(&g, "aten::linear", "[[4096, 4096], [4096, 4096]]", BF16_2);
        kernel_kit_run(&g, SGEMM, 2700);
        g.cpu_us += 10;
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "float32_products");
    if (CHECK(f != NULL)) CHECK(strstr(f->title, "half-precision") != NULL);
    done(&d);
}

TEST(float32_products_near_miss_tensor_cores)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_call(&g, "aten::mm", "[[4096, 4096], [4096, 4096]]", F32_2,
                        "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16", 370);
        layer(&g, 180);
    }
    struct diagnosis d;
    CHECK(only(&d, &g, "float32_products") == NULL);
    CHECK_EQ_UINT(findings_of(&d.cx)->n, 0);
    done(&d);
}

/* ---- odd_gemm ---- */

static void odd(struct kernel_kit *g, const char *dims, double us)
{
    kernel_kit_call(g, "aten::mm", dims, BF16_2, "cutlass_75_tensorop_bf16_s1688gemm_nn_align1>",
                    us);
}

TEST(odd_gemm_is_priced_by_what_others_reach)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        odd(&g, "[[4093, 4093], [4093, 4093]]", 850);
        layer(&g, 250); /* 70 % of the roof, as the other would reach */
    }
    check_gain(&g, "odd_gemm", 100 * (850 - 250.0) / 1102, 2);
}

TEST(odd_gemm_without_shapes)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++)
        kernel_kit_run(&g, "cutlass_75_tensorop_bf16_s1688gemm_nn_align1>", 400);
    check_gain(&g, "odd_gemm", 75, 2);
}

/* Too short for its shape to matter. */
TEST(odd_gemm_near_miss_short)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 400; i++)
        kernel_kit_run(&g, "cutlass_75_tensorop_bf16_s1688gemm_nn_align1>", 7);
    check_silent(&g, "odd_gemm");
}

/* Odd where no row is as long; odd, but as fast as it gets; aligned, but slow. */
TEST(odd_gemm_near_miss)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_call(&g, "aten::mm", "[[4093, 4096], [4096, 4096]]", BF16_2, GEMM, 600);
        kernel_kit_call(&g, "aten::mm", "[[4096, 4093], [4093, 4096]]", BF16_2, GEMM, 200);
        odd(&g, "[[4096, 4096], [4096, 4096]]", 850);
    }
    check_silent(&g, "odd_gemm");
}

/* ---- conv_layout ---- */

static void convolution(struct kernel_kit *g, bool turned)
{
    kernel_kit_op(g, "aten::cudnn_convolution", NULL, NULL);
    if (turned) kernel_kit_run(g, "void cudnn::ops::nchwToNhwcKernel<float>", 100);
    kernel_kit_run(g, "sm90_xmma_fprop_implicit_gemm", 300);
    if (turned) kernel_kit_run(g, "void cudnn::ops::nhwcToNchwKernel<float>", 100);
    g->cpu_us += 10;
    kernel_kit_call(g, "aten::native_batch_norm", NULL, NULL, "batch_norm_transform_input_kernel",
                    200);
}

TEST(conv_layout_fires_with_the_norms_between)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) convolution(&g, true);
    check_gain(&g, "conv_layout", 100 * (200 + 100.0) / 704, 3);
}

/* One convolution per step, as in a vision transformer: its image has to be turned in any case. */
TEST(conv_layout_near_miss_the_image_that_comes_in)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        double begin = g.cpu_us;
        kernel_kit_op(&g, "aten::cudnn_convolution", NULL, NULL);
        kernel_kit_run(&g, "void cudnn::ops::nchwToNhwcKernel<float>", 100);
        kernel_kit_run(&g, "sm90_xmma_fprop_implicit_gemm", 300);
        layer(&g, 180);
        kit_label(&g.k, "step", begin, g.cpu_us - begin - 1);
    }
    check_silent(&g, "conv_layout");
}

TEST(conv_layout_near_miss_nothing_is_turned)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) convolution(&g, false);
    check_silent(&g, "conv_layout");
}

/* ---- device_copies ---- */

#define CAT "void at::native::CatArrayBatchedCopy_vectorized<OpaqueType<2u>>"

/* Eight steps without shapes: a copy of `copy_us` and a product of `gemm_us`. */
static struct kernel_kit copying(const char *copy, double copy_us, double gemm_us)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_run(&g, copy, copy_us);
        if (gemm_us > 0) kernel_kit_run(&g, GEMM, gemm_us);
        g.cpu_us += 20;
    }
    return g;
}

TEST(device_copies_fill_the_time)
{
    static const struct {
        const char *kernel, *fix;
    } all[] = {{CAT, "slices"}, {COPY, "before the loop"}};
    for (int i = 0; i < 2; i++) {
        struct kernel_kit g = copying(all[i].kernel, 200, 100);
        struct diagnosis d;
        const struct finding *f = only(&d, &g, "device_copies");
        if (CHECK(f != NULL)) {
            CHECK_NEAR(f->gain_pct, 100 * 200.0 / 300, 4);
            CHECK(strstr(f->fix, all[i].fix) != NULL && strstr(f->why, "67 %") != NULL);
        }
        done(&d);
    }
}

/* A fifth of the work; nothing but copies. */
TEST(device_copies_near_miss)
{
    struct kernel_kit few = copying(COPY, 60, 240), all = copying(COPY, 200, 0);
    check_silent(&few, "device_copies");
    check_silent(&all, "device_copies");
}

/* With shapes the rules that know what is copied have the word. */
TEST(device_copies_near_miss_shapes_are_known)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_call(&g, "aten::copy_", "[[4096, 4096], [4096, 4096]]", BF16_2, COPY, 200);
        layer(&g, 180);
    }
    check_silent(&g, "device_copies");
}

/* ---- unfused_chain ---- */

#define TENSOR "[[65536, 4096], []]" /* 537 MB: 252 us for reading and writing */

/* A formula: no kernel twice in a row. One kernel again and again is a loop that times it. */
static void pointwise(struct kernel_kit *g, const char *op, int nth, double us)
{
    static const char *const kernels[] = {MUL, VECTORIZED "AddFunctor<c10::BFloat16> >"};
    kernel_kit_call(g, op, TENSOR, "[\"c10::BFloat16\", \"Scalar\"]", kernels[nth % 2], us);
}

/* Six kernels of 252 us become one that reads and writes once: 296 us. */
TEST(unfused_chain_fires_on_kernels_that_read_what_the_last_one_wrote)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 6; k++) pointwise(&g, "aten::mul", k, 252);
        layer(&g, 180);
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_chain");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 67, 5);
        CHECK(strstr(f->fix, "torch.compile") != NULL);
        CHECK(strstr(f->why, "mul, mul") != NULL);
    }
    done(&d);
}

/* Three quarters of a chain's time would go. Where tensor cores do nearly all the work, they may
 * give that back as a lower clock: a few percent are no reason to act, and where they do less, they
 * are. */
TEST(unfused_chain_beside_products_that_fill_the_gpu_is_doubtful)
{
    for (int fills = 0; fills < 2; fills++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int i = 0; i < 8; i++) {
            for (int k = 0; k < 3; k++) pointwise(&g, "aten::mul", k, 252);
            for (int k = 0; k < 8; k++)
                kernel_kit_call(&g, fills ? "aten::mm" : "aten::sort",
                                "[[4096, 4096], [4096, 4096]]", BF16_2,
                                fills ? "nvjet_sm90_tst_256x128_64x4" : "sort_kernel", 1600);
        }
        struct diagnosis d;
        const struct finding *f = only(&d, &g, "unfused_chain");
        if (CHECK(f != NULL)) {
            CHECK(f->gain_pct > 2 && f->gain_pct < 6);
            CHECK_EQ_INT(f->severity, fills ? SEVERITY_LOW : SEVERITY_MEDIUM);
            CHECK(f->low_pct < (fills ? 2 : f->gain_pct + 1));
        }
        done(&d);
    }
}

/* Functions that compute long do not get faster than they compute. */
TEST(unfused_chain_counts_what_is_computed)
{
    double gain[2];
    for (int costly = 0; costly < 2; costly++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int i = 0; i < 8; i++) {
            for (int k = 0; k < 12; k++) pointwise(&g, costly ? "aten::tanh" : "aten::mul", k, 252);
            layer(&g, 180);
        }
        struct diagnosis d;
        const struct finding *f = only(&d, &g, "unfused_chain");
        gain[costly] = f ? f->gain_pct : 0;
        done(&d);
    }
    CHECK(gain[0] > 75);
    CHECK(gain[1] > 20 && gain[1] < gain[0] - 10);
}

/* What a chain gains with a reduction in it, by so many blocks: one for each row. */
static double chain_gain(const char *op, const char *kernel, uint32_t blocks)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) pointwise(&g, "aten::mul", k, 252);
        g.grid[0] = blocks;
        kernel_kit_call(&g, op, TENSOR, "[\"c10::BFloat16\", \"Scalar\"]", kernel, 130);
        pointwise(&g, "aten::sub", 0, 252);
        layer(&g, 180);
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_chain");
    double gain = f ? f->gain_pct : 0;
    done(&d);
    return gain;
}

/* Rows that do not fit on the chip: the tensor is written before its mean and read after it. */
TEST(unfused_chain_pays_for_reductions_over_long_rows)
{
    static const struct {
        const char *op, *kernel;
    } all[] = {{"aten::mean", "reduce_kernel<512, 1, ReduceOp<float, MeanOps>>"},
               {"aten::_softmax", "rows_forward_kernel<float>"},
               {"aten::native_layer_norm", "rows_forward_kernel<float>"}};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        double narrow = chain_gain(all[n].op, all[n].kernel, 65536);
        double wide = chain_gain(all[n].op, all[n].kernel, 64);
        if (!CHECK(wide < narrow - 10)) printf("%s %f %f\n", all[n].op, narrow, wide);
        if (n == 0) CHECK(wide > 10);
    }
}

/* A sum and its norm between two products, as in every eager transformer. */
TEST(unfused_chain_near_miss_two_in_a_row)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        pointwise(&g, "aten::add", 0, 252);
        pointwise(&g, "aten::mul", 1, 252);
        layer(&g, 180);
    }
    check_silent(&g, "unfused_chain");
}

/* One kernel between two products; kernels a compiler made; an optimizer's. */
TEST(unfused_chain_near_miss)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        pointwise(&g, "aten::gelu", 0, 252);
        layer(&g, 180);
        kernel_kit_call(&g, "triton_poi_fused_0", "[[65536, 4096], [65536, 4096]]", BF16_2,
                        "triton_poi_fused_0", 260);
        kernel_kit_call(&g, "triton_poi_fused_1", "[[65536, 4096], [65536, 4096]]", BF16_2,
                        "triton_poi_fused_1", 260);
        layer(&g, 180);
    }
    struct diagnosis d;
    CHECK(only(&d, &g, "unfused_chain") == NULL);
    CHECK_EQ_UINT(severe(&d, SEVERITY_MEDIUM), 0);
    done(&d);
    g = kernel_kit_begin();
    for (int i = 0; i < 4; i++) {
        kit_label(&g.k, "Optimizer.step#SGD.step", g.cpu_us, 40);
        g.cpu_us += 1;
        pointwise(&g, "aten::mul", 0, 252);
        pointwise(&g, "aten::mul", 1, 252);
        g.cpu_us += 30;
        layer(&g, 180);
    }
    check_silent(&g, "unfused_chain");
}

/* ---- repeated_conversion ---- */

static void linear(struct kernel_kit *g, const char *cast)
{
    double begin = g->cpu_us;
    kernel_kit_op_around(g, "aten::linear", "[[256, 4096], [16384, 4096]]", F32_2, 60);
    if (cast) kernel_kit_call(g, "aten::copy_", cast, "[\"c10::BFloat16\", \"float\"]", COPY, 90);
    kernel_kit_call(g, "aten::mm", "[[256, 4096], [4096, 16384]]", BF16_2, GEMM, 60);
    g->cpu_us = begin + 70;
}

TEST(repeated_conversion_fires_on_weights_under_autocast)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) linear(&g, "[[16384, 4096], [16384, 4096]]");
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "repeated_conversion");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 100 * 91.0 / 152, 8);
        CHECK(strstr(f->title, "weights") != NULL);
    }
    done(&d);
}

/* Work on as many numbers of another type does not make anew what is cast; work on float32 may. */
TEST(repeated_conversion_fires_beside_other_types)
{
    static const char *const beside[] = {VECTORIZED "CUDAFunctor_add<c10::BFloat16>, " THREE,
                                         VECTORIZED "CUDAFunctor_add<float>, " THREE};
    for (int i = 0; i < 2; i++) {
        struct kernel_kit g = kernel_kit_begin();
        g.grid[0] = 65536;
        for (int step = 0; step < 8; step++) {
            kernel_kit_run(&g, VECTORIZED "bfloat16_copy_kernel_cuda, std::array<char*, 2ul> >",
                           150);
            kernel_kit_run(&g, GEMM, 20);
            kernel_kit_run(&g, beside[i], 230);
        }
        if (i == 0) check_gain(&g, "repeated_conversion", 100 * 151.0 / 403, 8);
        else check_silent(&g, "repeated_conversion");
    }
}

/* Weights that are trained change from step to step, and activations always do. */
TEST(repeated_conversion_near_miss)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        linear(&g, "[[16384, 4096], [16384, 4096]]");
        kit_label(&g.k, "Optimizer.step#SGD.step", g.cpu_us, 30);
        g.cpu_us += 1;
        kernel_kit_call(&g, "aten::add_", "[[16384, 4096], [16384, 4096]]", F32_2, MUL, 200);
        g.cpu_us += 30;
    }
    check_silent(&g, "repeated_conversion");
    g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_call(&g, "aten::native_layer_norm", "[[256, 4096]]", "[\"float\"]", "norm", 9);
        linear(&g, "[[256, 4096], [256, 4096]]");
    }
    check_silent(&g, "repeated_conversion");
}

/* ---- overwritten_fill ---- */

static void filled(struct kernel_kit *g, const char *part, int n)
{
    kernel_kit_call(g, "aten::zero_", "[[4194304]]", "[\"float\"]", "FillFunctor", 50);
    for (int i = 0; i < n; i++) kernel_kit_call(g, "aten::copy_", part, F32_2, "copy_kernel", 40);
    layer(g, 180);
}

TEST(overwritten_fill_fires_when_copies_cover_it)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) filled(&g, "[[2097152], [2097152]]", 2);
    check_gain(&g, "overwritten_fill", 100 * 51.0 / 314, 2);
}

/* The operator exists for its kernel alone: both go. */
TEST(overwritten_fill_drops_the_operator_too)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) filled(&g, "[[2097152], [2097152]]", 2);
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "overwritten_fill");
    REQUIRE(f != NULL);
    const struct sim_edit *drop = NULL;
    for (uint32_t i = 0; i < f->n_edits; i++)
        if (f->edits[i].kind == EDIT_DROP_ROWS) drop = &f->edits[i];
    REQUIRE(drop != NULL);
    CHECK_EQ_UINT(drop->n_rows, 8);
    CHECK_EQ_BYTES(trace_name(d.t, drop->rows[0]), "aten::zero_");
    done(&d);
}

TEST(overwritten_fill_near_miss_padding_stays)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) filled(&g, "[[2000000], [2000000]]", 2);
    check_silent(&g, "overwritten_fill");
}

/* ---- growing_cat ---- */

static void cat(struct kernel_kit *g, const char *dims)
{
    kernel_kit_call(g, "aten::cat", dims, "[\"TensorList\", \"Scalar\"]",
                    "CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 4>", 250);
    layer(g, 180);
}

TEST(growing_cat_fires_on_a_cache)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) cat(&g, "[[[16, 32, 4096, 128], [16, 32, 1, 128]], []]");
    check_gain(&g, "growing_cat", 100 * 248.0 / 432, 2);
}

TEST(growing_cat_near_miss_halves)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) cat(&g, "[[[16, 32, 2048, 128], [16, 32, 2048, 128]], []]");
    check_silent(&g, "growing_cat");
}

/* ---- unfused_optimizer ---- */

/* Steps of 40 parameters with 4 operators each, 12 us of CPU time an operator. */
static void optimizer(struct kernel_kit *g, const char *kernel)
{
    static const char *const ops[] = {"aten::lerp_", "aten::mul_", "aten::addcmul_",
                                      "aten::addcdiv_"};
    for (int s = 0; s < 4; s++) {
        kit_label(&g->k, "Optimizer.step#AdamW.step", g->cpu_us, 40 * 4 * 11 + 5);
        g->cpu_us += 2;
        for (int i = 0; i < 40 * 4; i++)
            kernel_kit_call(g, ops[i % 4], "[[512, 512], [512, 512]]", F32_2, kernel, 3);
        g->cpu_us += 200;
        layer(g, 180);
    }
}

TEST(unfused_optimizer_fires_parameter_by_parameter)
{
    struct kernel_kit g = kernel_kit_begin();
    optimizer(&g, MUL);
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_optimizer");
    if (CHECK(f != NULL)) {
        CHECK(f->alone.gain_pct > 60 && f->alone.gain_pct < 92);
        CHECK(strstr(f->fix, "fused=True") != NULL);
        CHECK(strstr(f->why, "of 40 parameters") != NULL);
    }
    done(&d);
}

/* Many parameters of a few elements: a fused step saves the CPU's time; on the GPU its launches for
 * every few of them would take longer than today's kernels, which a fix never costs. */
TEST(unfused_optimizer_never_costs_the_gpu_more)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int s = 0; s < 4; s++) {
        kit_label(&g.k, "Optimizer.step#SGD.step", g.cpu_us, 600 * 11 + 5);
        g.cpu_us += 2;
        for (int i = 0; i < 600; i++)
            kernel_kit_call(&g, "aten::add_", "[[2], [2]]", F32_2, MUL, 0.02);
        g.cpu_us += 200;
        layer(&g, 180);
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_optimizer");
    if (CHECK(f != NULL)) CHECK(f->exposed_ns >= 0);
    done(&d);
}

/* Two models, each with a thread and an optimizer of its own. */
TEST(unfused_optimizer_of_two_threads)
{
    struct kernel_kit g = kernel_kit_begin();
    optimizer(&g, MUL);
    g.k.tid = 2;
    g.cpu_us = 100;
    optimizer(&g, MUL);
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_optimizer");
    if (CHECK(f != NULL) && !CHECK(strstr(f->why, "launch 1,280 kernels") != NULL)) puts(f->why);
    done(&d);
}

/* One call of a process that has just started; `warm`: the same without its start. */
static struct trace *optimizer_in_a_first_call(bool warm)
{
    struct kernel_kit g = kernel_kit_begin();
    kit_op(&g.k, "aten::to", 0, warm ? 50 : 40000);
    if (!warm) kit_call(&g.k, "cudaFree", 10, 38000);
    g.cpu_us = g.gpu_us = warm ? 100 : 41000;
    kit_label(&g.k, "Optimizer.step#AdamW.step", g.cpu_us, 160 * 11 + 5);
    g.cpu_us += 2;
    for (int i = 0; i < 160; i++)
        kernel_kit_call(&g, "aten::mul_", "[[512, 512], [512, 512]]", F32_2, MUL, 3);
    layer(&g, 300);
    return kernel_kit_end(&g);
}

/* What the CPU does in a first call says nothing: the fix gains what its kernels take less. */
TEST(unfused_optimizer_gains_no_start_up)
{
    for (int warm = 0; warm < 2; warm++) {
        struct trace *t = optimizer_in_a_first_call(warm);
        struct diagnosis d;
        arena_init(&d.mem);
        context_init(&d.cx, t, &d.mem);
        CHECK_EQ_INT(recorded_cut(&t, &d.cx, NULL), 0);
        context_done(&d.cx);
        arena_done(&d.mem);
        diagnose(&d, t);
        const struct finding *f = found(&d, "unfused_optimizer");
        if (CHECK(f != NULL)) CHECK_EQ_INT(f->gain_ns > f->exposed_ns, warm);
        if (f) CHECK_EQ_INT(f->alone.gain_pct > f->gain_pct + 0.1, 0);
        done(&d);
    }
}

TEST(unfused_optimizer_near_miss_lists_of_tensors)
{
    struct kernel_kit g = kernel_kit_begin();
    optimizer(&g, "multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdam>");
    check_silent(&g, "unfused_optimizer");
}

/* ---- tensor_loop ---- */

TEST(tensor_loop_fires_on_experts_and_on_updates)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 64; i++)
            kernel_kit_call(&g, "aten::mm", "[[128, 1024], [1024, 1024]]", BF16_2, GEMM, 5);
        layer(&g, 180);
    }
    check_gain(&g, "tensor_loop", 62, 6);
    g = kernel_kit_begin();
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 64; i++)
            kernel_kit_call(&g, "aten::mul_", "[[512, 512], []]", F32_2, MUL, 3);
        layer(&g, 180);
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "tensor_loop");
    if (CHECK(f != NULL)) CHECK(strstr(f->fix, "_foreach_") != NULL);
    done(&d);
}

/* Large products fill the device; other work between them is a network. */
TEST(tensor_loop_near_miss)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 40; i++) layer(&g, 180);
    check_silent(&g, "tensor_loop");
    g = kernel_kit_begin();
    for (int i = 0; i < 64; i++) {
        kernel_kit_call(&g, "aten::mm", "[[128, 1024], [1024, 1024]]", BF16_2, GEMM, 5);
        kernel_kit_call(&g, "aten::gelu", "[[128, 1024]]", BF16_2, MUL, 3);
    }
    check_silent(&g, "tensor_loop");
}

/* ---- recorded on an H200, with the fix measured ---- */

static void check_recorded(const char *file, const char *rule, double measured_pct)
{
    char path[512];
    struct import_options o = {.n_threads = 1};
    struct trace *t = NULL;
    snprintf(path, sizeof path, "%s/advice/%s", TEST_DATA, file);
    REQUIRE(import_open(path, &o, &t, NULL) == 0);
    struct diagnosis d;
    diagnose(&d, t);
    REQUIRE(findings_of(&d.cx)->n > 0);
    CHECK_EQ_STR(findings_of(&d.cx)->items[0]->rule->id, rule);
    CHECK_NEAR(findings_of(&d.cx)->items[0]->gain_pct, measured_pct, 10);
    done(&d);
}

/* Neither operators nor shapes, and memory that is freed in every step: the softmax shows that it
 * is the math path, and what is launched and allocated for it goes too. Measured: 83.3 %
 * alone, 85.4 % with the second one. */
TEST(recorded_attention_without_operators)
{
    struct import_options o = {.n_threads = 1};
    struct trace *t = NULL;
    REQUIRE(import_open(TEST_DATA "/capture/h200_attention_math.json.zst", &o, &t, NULL) == 0);
    struct diagnosis d;
    diagnose(&d, t);
    const struct findings *x = findings_of(&d.cx);
    REQUIRE(x->n >= 2);
    CHECK_EQ_STR(x->items[0]->rule->id, "unfused_attention");
    CHECK_NEAR(x->items[0]->gain_pct, 83.3, 3);
    CHECK(strstr(x->items[0]->why, "80 calls of") != NULL);
    CHECK(strstr(x->items[0]->fix, "sdpa_kernel(MATH)") != NULL);
    CHECK_EQ_STR(x->items[1]->rule->id, "allocation_in_loop");
    CHECK_NEAR(x->items[0]->gain_pct + x->items[1]->gain_pct, 85.4, 3);
    done(&d);
}

TEST(recorded_programs_name_their_fix_and_its_worth)
{
    check_recorded("attention_math_stack.json.gz", "unfused_attention", 94.3);
    check_recorded("gemm_fp32_stack.json.gz", "float32_products", 86.6);
    check_recorded("elementwise_chain_stack.json.gz", "unfused_chain", 80.8);
}

/* ---- together ---- */

/* Attention in float32 inside: one rule claims it, the others gain nothing more from the same
 * kernels. */
TEST(rules_do_not_count_the_same_kernels_twice)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        kernel_kit_call(&g, "aten::bmm", "[[32, 2048, 64], [32, 64, 2048]]", F32_2, SGEMM, 900);
        kernel_kit_call(&g, "aten::_softmax", "[[32, 2048, 2048]]", F32_2, SOFTMAX, 600);
        kernel_kit_call(&g, "aten::bmm", "[[32, 2048, 2048], [32, 2048, 64]]", F32_2, SGEMM, 900);
    }
    struct diagnosis d;
    const struct finding *f = only(&d, &g, "unfused_attention");
    CHECK(f != NULL);
    double all = 0;
    for (uint32_t i = 0; i < findings_of(&d.cx)->n; i++)
        all += findings_of(&d.cx)->items[i]->gain_pct;
    CHECK(all < 100);
    if (f) CHECK_NEAR(all, f->gain_pct, 3);
    done(&d);
}

/* Compiled, bf16, fused attention, the CPU ahead. */
TEST(a_healthy_program_raises_no_alarm)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 16; i++) {
        kernel_kit_call(&g, "triton_red_fused_layer_norm_0", "[[8192, 4096], [8192, 4096]]", BF16_2,
                        "triton_red_fused_layer_norm_0", 50);
        layer(&g, 190);
        kernel_kit_call(&g, "aten::_scaled_dot_product_flash_attention",
                        "[[4, 32, 2048, 64], [4, 32, 2048, 64], [4, 32, 2048, 64]]", BF16_4,
                        "flash_fwd_kernel", 500);
        layer(&g, 190);
    }
    struct diagnosis d;
    diagnose(&d, kernel_kit_end(&g));
    CHECK_EQ_UINT(severe(&d, SEVERITY_MEDIUM), 0);
    CHECK_EQ_INT(wall_of(&d.cx)->bound, BOUND_GPU);
    done(&d);
}

TEST_MAIN
