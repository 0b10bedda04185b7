/* test_rules_repeated.c: work that is done again within a step: one trace on which each kind of it
 * is found, with the gain, and near misses. The device is an H200. */
#include "diagnosis.h"
#include "kernel_kit.h"

#define GEMM "nvjet_sm90_tst_256x128_64x4"
#define NORM "void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float>"
#define GELU "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl>"
#define DGELU \
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl>"

/* ---- training, a step at a time ---- */

struct training {
    struct kernel_kit g;
    bool ops;      /* operators are recorded */
    bool again;    /* layers are computed again in the backward pass */
    bool keeps_on; /* autograd takes note of all that the backward pass runs */
};

static void training_begin(struct training *x)
{
    x->g = kernel_kit_begin();
    x->g.k.pid = 1; /* thread 1 is where the program began */
}

static void training_launch(struct training *x, const char *op, const char *dims,
                            const char *kernel, uint32_t grid, double us)
{
    double begin = x->g.cpu_us;
    x->g.grid[0] = grid;
    if (x->ops) kernel_kit_op(&x->g, op, dims, BF16_2);
    else x->g.cpu_us += 6;
    kernel_kit_run(&x->g, kernel, us);
    x->g.cpu_us = begin + 11;
}

/* Eight launches. */
static void training_forward(struct training *x)
{
    for (int i = 0; i < 2; i++) {
        training_launch(x, "aten::native_layer_norm", "[[4096, 1024]]", NORM, 4096, 20);
        training_launch(x, "aten::mm", "[[4096, 1024], [1024, 4096]]", GEMM, 132, 60);
        training_launch(x, "aten::gelu", "[[4096, 4096]]", GELU, 2048, 20);
        training_launch(x, "aten::mm", "[[4096, 4096], [4096, 1024]]", GEMM, 131, 60);
    }
}

static void training_node(struct training *x, const char *node, const char *op, const char *dims,
                          const char *kernel, uint32_t grid)
{
    if (x->ops) kernel_kit_op_around(&x->g, node, NULL, NULL, 14);
    int64_t sequence = x->g.sequence;
    x->g.sequence = x->keeps_on ? 900 : 0;
    training_launch(x, op, dims, kernel, grid, 60);
    x->g.sequence = sequence;
}

static void training_backward_layer(struct training *x)
{
    if (x->again) {
        if (x->ops)
            kernel_kit_op_around(&x->g, "autograd::engine::evaluate_function: MmBackward0", NULL,
                                 NULL, 8 * 11 + 4);
        x->g.sequence = 500;
        training_forward(x);
        x->g.sequence = 0;
    }
    for (int i = 0; i < 2; i++) {
        training_node(x, "autograd::engine::evaluate_function: MmBackward0", "aten::mm",
                      "[[1024, 4096], [4096, 4096]]", GEMM "_NTN", 132);
        training_node(x, "autograd::engine::evaluate_function: GeluBackward0",
                      "aten::gelu_backward", "[[4096, 4096], [4096, 4096]]", DGELU, 2048);
    }
}

static void training_step(struct training *x)
{
    enum { LAYERS = 4 };
    struct kernel_kit *g = &x->g;
    double begin = g->cpu_us;
    g->sequence = 100;
    for (int i = 0; i < LAYERS; i++) training_forward(x);
    g->sequence = 0;
    g->k.tid = 2;
    if (!x->ops) kernel_kit_run(g, DGELU, 20);
    for (int i = 0; i < LAYERS; i++) training_backward_layer(x);
    g->k.tid = 1;
    kit_label(&g->k, "step", begin, g->cpu_us - begin + 5);
    g->cpu_us += 10;
}

static const struct finding *training_found(struct diagnosis *d, struct training *x)
{
    training_begin(x);
    for (int i = 0; i < 3; i++) training_step(x);
    diagnose(d, kernel_kit_end(&x->g));
    return found(d, "repeated_work");
}

/* Of a step: 4 layers of 320 us forward, as much again, 4 x 240 us backward. */
TEST(forward_again_in_backward_by_operators)
{
    struct diagnosis d;
    struct training x = {.ops = true, .again = true};
    const struct finding *f = training_found(&d, &x);
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 100 * 1280.0 / (1280 + 1280 + 960 + 60), 5);
        CHECK_EQ_INT(f->effort, EFFORT_ONE_LINE);
        CHECK(strstr(f->fix, "checkpoint") != NULL);
        /* whether the memory suffices is not known */
        CHECK_EQ_INT(f->severity, SEVERITY_LOW);
        CHECK_NEAR(f->low_pct, 0, 0.1);
    }
    done(&d);
}

TEST(forward_again_in_backward_by_launches_alone)
{
    struct diagnosis d;
    struct training x = {.again = true};
    const struct finding *f = training_found(&d, &x);
    if (CHECK(f != NULL)) CHECK_NEAR(f->gain_pct, 36, 5);
    done(&d);
}

TEST(forward_again_near_miss_an_ordinary_backward_pass)
{
    for (int ops = 0; ops < 2; ops++) {
        struct diagnosis d;
        struct training x = {.ops = ops};
        CHECK(training_found(&d, &x) == NULL);
        done(&d);
    }
}

/* A gradient that is differentiated is noted, too, but it is nothing that ran before. */
TEST(forward_again_near_miss_a_second_derivative)
{
    struct diagnosis d;
    struct training x = {.ops = true, .keeps_on = true};
    CHECK(training_found(&d, &x) == NULL);
    done(&d);
}

/* Two threads that run the same network for different requests train nothing. */
TEST(forward_again_near_miss_two_threads_of_a_server)
{
    struct diagnosis d;
    struct training x = {.ops = false};
    training_begin(&x);
    for (int i = 0; i < 6; i++) {
        x.g.k.tid = 1 + i % 2;
        training_forward(&x);
        training_forward(&x);
    }
    diagnose(&d, kernel_kit_end(&x.g));
    CHECK(found(&d, "repeated_work") == NULL);
    done(&d);
}

/* ---- memory ---- */

/* A device of `total` bytes of which `peak` are used. */
static const struct finding *training_with_memory(struct diagnosis *d, int64_t total, int64_t peak)
{
    struct training x = {.ops = true, .again = true};
    training_begin(&x);
    struct device dev = {.name = builder_intern(x.g.k.b, str_c("NVIDIA H200")),
                         .id = 1,
                         .memory_bytes = total,
                         .major = 9,
                         .n_sms = 132};
    CHECK_EQ_INT(builder_add_device(x.g.k.b, &dev), 0);
    for (int i = 0; i < 3; i++) {
        kit_memory(&x.g.k, x.g.cpu_us, 1 << 20, peak, peak);
        training_step(&x);
    }
    struct trace *t = kernel_kit_end(&x.g);
    for (uint32_t i = 0; i < t->n_devices; i++) t->devices[i].memory_bytes = total;
    diagnose(d, t);
    return found(d, "repeated_work");
}

TEST(forward_again_says_that_the_memory_suffices)
{
    struct diagnosis d;
    const struct finding *f = training_with_memory(&d, (int64_t)141e9, (int64_t)41e9);
    if (CHECK(f != NULL) && !CHECK(strstr(f->why, "It fits") && strstr(f->why, "141 GB")))
        fprintf(stderr, "%s\n", f->why);
    if (f) CHECK_EQ_INT(f->severity, SEVERITY_HIGH);
    done(&d);
}

/* Kept, the results take some hundred megabytes: here they would not fit. */
TEST(forward_again_near_miss_checkpointing_that_is_needed)
{
    struct diagnosis d;
    CHECK(training_with_memory(&d, (int64_t)141e9, (int64_t)126.9e9) == NULL);
    done(&d);
}

/* ---- weight norm ---- */

static const struct finding *weight_norm_found(struct diagnosis *d, bool trains)
{
    struct training x = {.ops = true};
    training_begin(&x);
    for (int i = 0; i < 20; i++) {
        training_launch(&x, "aten::_weight_norm_interface", "[[512, 512, 3]]",
                        "void at::native::weight_norm_fwd_first_dim_kernel<float>", 512, 20);
        training_launch(&x, "aten::mm", "[[4096, 1024], [1024, 4096]]", GEMM, 132, 60);
        if (trains)
            training_node(&x, "autograd::engine::evaluate_function: MmBackward0", "aten::mm",
                          "[[1024, 4096], [4096, 4096]]", GEMM "_NTN", 132);
    }
    diagnose(d, kernel_kit_end(&x.g));
    return found(d, "repeated_work");
}

TEST(weight_norm_at_every_call)
{
    struct diagnosis d;
    const struct finding *f = weight_norm_found(&d, false);
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 100 * 20.0 / 82, 3);
        CHECK(strstr(f->fix, "remove_weight_norm") != NULL);
    }
    done(&d);
}

TEST(weight_norm_near_miss_training)
{
    struct diagnosis d;
    CHECK(weight_norm_found(&d, true) == NULL);
    done(&d);
}

/* ---- reductions in micro-steps ---- */

#define REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

/* Four passes, each of a forward part of 8 launches of 20 us and a backward part of 4 of 60 us, and
 * reductions of 300 us after them. */
static struct trace *micro_steps(bool each, bool forward, bool optimizer_each)
{
    struct training x = {.ops = true};
    training_begin(&x);
    for (int s = 0; s < 3; s++) {
        double begin = x.g.cpu_us;
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 10; k++)
                training_launch(&x, "aten::gelu", "[[4096, 4096]]", GELU, 2048, 20);
            if (forward) kernel_kit_run(&x.g, REDUCE, 20);
            x.g.k.tid = 2;
            for (int k = 0; k < 4; k++)
                training_node(&x, "autograd::engine::evaluate_function: MmBackward0", "aten::mm",
                              "[[1024, 4096], [4096, 4096]]", GEMM "_NTN", 132);
            if (each || i == 3) {
                kernel_kit_op_around(&x.g, "autograd::engine::evaluate_function: AccumulateGrad",
                                     NULL, NULL, 12);
                kernel_kit_run(&x.g, REDUCE, 300);
                x.g.cpu_us += 10;
            }
            x.g.k.tid = 1;
            if (i < 3 && !optimizer_each) continue;
            kit_label(&x.g.k, "Optimizer.step#AdamW.step", x.g.cpu_us, 14);
            training_launch(&x, "aten::_fused_adamw_", "[[4096, 4096]]", "adamw", 2048, 20);
            x.g.cpu_us += 5;
        }
        kit_label(&x.g.k, "step", begin, x.g.cpu_us - begin + 5);
        x.g.cpu_us += 10;
    }
    return kernel_kit_end(&x.g);
}

TEST(gradients_reduced_in_every_micro_step)
{
    struct diagnosis d;
    diagnose(&d, micro_steps(true, false, false));
    const struct finding *f = found(&d, "repeated_work");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 100 * 900.0 / (4 * (210 + 244 + 301) + 21), 6);
        CHECK(strstr(f->fix, "no_sync") != NULL);
    }
    done(&d);
}

/* Once per step; layers that ranks share; an optimizer after each pass. */
TEST(micro_steps_near_misses)
{
    for (int i = 0; i < 3; i++) {
        struct diagnosis d;
        diagnose(&d, micro_steps(i != 0, i == 1, i == 2));
        CHECK(found(&d, "repeated_work") == NULL);
        done(&d);
    }
}

/* ---- threads of a server ---- */

#define SDPA "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16"

struct serving {
    int requests, threads; /* the first so many have threads of their own, then it starts again */
    bool again;            /* the pause comes before every attention */
    bool by_library;
};

/* Requests one after the other: a norm, a product, a pause, attention four times. */
static struct kernel_kit served(const struct serving *x)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < x->requests; i++) {
        g.k.tid = 10 + i % x->threads;
        for (int k = 0; k < 4; k++) {
            kernel_kit_run(&g, NORM, 5);
            g.cpu_us += 5;
            kernel_kit_run(&g, GEMM, 5);
            g.cpu_us += x->again || k == 0 ? 20000 : 5;
            kernel_kit_run(&g, x->by_library ? SDPA : GELU, 5);
            g.cpu_us += 5;
        }
        kit_call(&g.k, "cudaStreamSynchronize", g.cpu_us, 20);
        g.cpu_us += 100;
    }
    return g;
}

TEST(libraries_set_up_again_in_every_thread)
{
    struct serving x = {8, 8, false, true};
    struct diagnosis d;
    struct kernel_kit g = served(&x);
    diagnose(&d, kernel_kit_end(&g));
    const struct finding *f = found(&d, "repeated_work");
    if (CHECK(f != NULL)) {
        CHECK(strstr(f->fix, "ThreadPoolExecutor") != NULL);
        CHECK(f->gain_pct > 90);
    }
    done(&d);
    static const struct serving silent[] = {
        {8, 2, false, true},  /* a pool of two */
        {8, 8, true, true},   /* always as slow: it waits for something else */
        {8, 8, false, false}, /* a kernel that needs no handles */
    };
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        g = served(&silent[i]);
        diagnose(&d, kernel_kit_end(&g));
        CHECK(found(&d, "repeated_work") == NULL);
        done(&d);
    }
}

TEST_MAIN
