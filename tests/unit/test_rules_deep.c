/* test_rules_deep.c: what rules ask of operators they find in units in depth as well. Each scene is
 * diagnosed three times: with the operators of all rounds, with those of one round alone, which is
 * a unit in depth and is taken out of the trace, and without any. The first two have to agree. */
#include "diagnosis.h"
#include "format/ring.h"
#include "kernel_kit.h"
#include "trace/cut.h"

#define GEMM    "nvjet_sm90_tst_256x128_64x4"
#define FILL    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >"
#define COPY    "void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>"
#define SOFTMAX "cunn_SoftMaxForward<8, float, float, float, SoftMaxForwardEpilogue>"
#define LIST    "void at::native::multi_tensor_apply_kernel"

enum { ROUNDS = 40 };

struct round_of {
    struct kernel_kit g;
    bool ops; /* operators are recorded */
};

static void around(struct round_of *x, const char *op, const char *dims, double us)
{
    if (x->ops) kernel_kit_op_around(&x->g, op, dims, F32_2, us);
    else x->g.cpu_us += 1;
}

static void run(struct round_of *x, const char *op, const char *dims, const char *kernel, double us)
{
    double begin = x->g.cpu_us;
    around(x, op, dims, 10);
    kernel_kit_run(&x->g, kernel, us);
    x->g.cpu_us = begin + 11;
}

/* ---- rounds ---- */

static void unread_rows(struct round_of *x)
{
    run(x, "aten::mm", "[[4096, 1024], [1024, 131072]]", GEMM, 1600);
    run(x, "aten::copy_", "[[4096, 131072], [4096, 131072], []]", COPY, 800);
    run(x, "aten::_log_softmax", "[[4, 131072], [], []]", SOFTMAX, 40);
    run(x, "aten::mm", "[[256, 1024], [1024, 1024]]", "nvjet_other", 50);
}

static void one_hot(struct round_of *x)
{
    double begin = x->g.cpu_us;
    around(x, "aten::one_hot", NULL, 10);
    run(x, "aten::fill_", "[[4096, 32000], []]", FILL, 225);
    x->g.cpu_us = begin + 12;
    run(x, "aten::copy_", "[[4096, 32000], [4096, 32000], []]", COPY, 400);
    run(x, "aten::mm", "[[4096, 32000], [32000, 1024]]", GEMM, 290);
    run(x, "aten::mm", "[[256, 1024], [1024, 1024]]", "nvjet_other", 100);
}

static void inverse(struct round_of *x)
{
    double begin = x->g.cpu_us;
    around(x, "aten::linalg_inv", NULL, 30);
    run(x, "aten::linalg_lu_factor", "[[2048, 2048]]", "getrf_kernel", 300);
    run(x, "aten::linalg_lu_solve", "[[2048, 2048], [2048, 2048]]", "trsm_kernel", 600);
    x->g.cpu_us = begin + 32;
    run(x, "aten::mm", "[[2048, 2048], [2048, 16]]", GEMM, 100);
    run(x, "aten::mm", "[[256, 1024], [1024, 1024]]", "nvjet_other", 100);
}

static void filled_empty(struct round_of *x)
{
    double begin = x->g.cpu_us;
    around(x, "aten::empty", NULL, 14);
    run(x, "aten::fill_", "[[4096, 4096], []]", FILL, 60);
    x->g.cpu_us = begin + 16;
    run(x, "aten::mm", "[[256, 1024], [1024, 1024]]", GEMM, 50);
    run(x, "aten::mm", "[[512, 1024], [1024, 1024]]", "nvjet_other", 50);
}

static void math_path(struct round_of *x)
{
    double begin = x->g.cpu_us;
    around(x, "aten::_scaled_dot_product_attention_math",
           "[[1, 32, 2048, 64], [1, 32, 2048, 64], [1, 32, 2048, 64]]", 60);
    run(x, "aten::copy_", "[[32, 2048, 64], [32, 2048, 64]]", COPY, 50);
    run(x, "aten::bmm", "[[32, 2048, 64], [32, 64, 2048]]", GEMM, 200);
    run(x, "aten::_softmax", "[[32, 2048, 2048], [], []]", SOFTMAX, 300);
    run(x, "aten::bmm", "[[32, 2048, 2048], [32, 2048, 64]]", GEMM, 200);
    x->g.cpu_us = begin + 70;
    run(x, "aten::mm", "[[4096, 4096], [4096, 4096]]", "nvjet_other", 180);
}

static void copied_bias(struct round_of *x)
{
    double begin = x->g.cpu_us;
    around(x, "aten::addmm", "[[1024], [256, 1024], [1024, 1024]]", 12);
    x->g.k.bytes = 33554432;
    kit_call(&x->g.k, "cudaMemcpyAsync", x->g.cpu_us, 2);
    kit_work(&x->g.k, KIND_MEMCPY, "Memcpy DtoD (Device -> Device)", x->g.gpu_us, 40);
    x->g.gpu_us += 41;
    x->g.cpu_us += 3;
    kernel_kit_run(&x->g, "ampere_bf16_s16816gemm_bf16_128x256_nn", 200);
    x->g.cpu_us = begin + 14;
    run(x, "aten::mm", "[[256, 1024], [1024, 1024]]", "nvjet_other", 50);
}

static void accumulate(struct round_of *x, const char *dims)
{
    if (x->ops)
        kernel_kit_op_around(&x->g, "autograd::engine::evaluate_function: MmBackward0", NULL, NULL,
                             12);
    else x->g.cpu_us += 1;
    run(x, "aten::mm", "[[512, 1024], [1024, 1024]]", "nvjet_backward", 60);
    if (x->ops) kernel_kit_op(&x->g, "torch::autograd::AccumulateGrad", dims, "[\"float\"]");
    else x->g.cpu_us += 1;
    x->g.cpu_us += 12;
}

/* A head, and 8 layers whose gradients no optimizer takes. */
static void frozen(struct round_of *x)
{
    for (int k = 0; k < 8; k++) run(x, "aten::mm", "[[512, 1024], [1024, 1024]]", GEMM, 30);
    x->g.k.tid = 2;
    accumulate(x, "[[10, 1024]]");
    for (int k = 0; k < 8; k++) accumulate(x, "[[1024, 1024]]");
    x->g.k.tid = 1;
    kit_label(&x->g.k, "Optimizer.step#SGD.step", x->g.cpu_us, 20);
    x->g.cpu_us += 2;
    around(x, "aten::_foreach_add_", "[[[10, 1024]], [[10, 1024]], []]", 10);
    kernel_kit_run(&x->g, LIST, 5);
    x->g.cpu_us += 30;
}

#define CAST \
    "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda>"

/* A weight that is cast before every use. */
static void autocast(struct round_of *x)
{
    double begin = x->g.cpu_us;
    around(x, "aten::linear", "[[256, 4096], [16384, 4096]]", 60);
    if (x->ops)
        kernel_kit_op(&x->g, "aten::copy_", "[[16384, 4096], [16384, 4096]]",
                      "[\"c10::BFloat16\", \"float\"]");
    else x->g.cpu_us += 1;
    kernel_kit_run(&x->g, CAST, 300);
    x->g.cpu_us += 11;
    run(x, "aten::mm", "[[256, 4096], [4096, 16384]]", GEMM, 200);
    x->g.cpu_us = begin + 70;
}

/* The same while it is trained, which only a unit in depth shows. */
static void autocast_trained(struct round_of *x)
{
    autocast(x);
    around(x, "autograd::engine::evaluate_function: MmBackward0", NULL, 12);
    run(x, "aten::mm", "[[512, 1024], [1024, 1024]]", "nvjet_other", 60);
    x->g.cpu_us += 3;
}

static void masked(struct round_of *x)
{
    struct kit *k = &x->g.k;
    for (int n = 0; n < 4; n++) run(x, "aten::mm", "[[64, 64], [64, 64]]", GEMM, 10);
    double us = x->g.gpu_us > x->g.cpu_us ? x->g.gpu_us : x->g.cpu_us;
    if (x->ops) kit_op(k, "aten::index", us, 60);
    if (x->ops) kit_op(k, "aten::nonzero", us + 1, 58);
    k->bytes = 4;
    kit_call(k, "cudaMemcpyAsync", us + 4, 5);
    kit_work(k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", us + 20, 1);
    kit_call(k, "cudaStreamSynchronize", us + 10, 14);
    x->g.cpu_us = x->g.gpu_us = us + 100;
}

/* ---- the three traces ---- */

enum operators { OPERATORS_OF_ALL, OPERATORS_OF_ONE, OPERATORS_OF_NONE };

/* Waits for the device, as the recorder does before and after a unit in depth. */
static void drain(struct round_of *x)
{
    double end = x->g.gpu_us > x->g.cpu_us ? x->g.gpu_us : x->g.cpu_us;
    kit_call(&x->g.k, "cudaDeviceSynchronize", x->g.cpu_us, end + 10 - x->g.cpu_us);
    x->g.cpu_us = end + 20;
}

static void in_depth(struct round_of *x, void (*round)(struct round_of *x))
{
    drain(x);
    kit_row(&x->g.k, KIND_INSTANT, RING_DEPTH_BEGINS, x->g.cpu_us - 5, 0, NULL);
    x->ops = true;
    round(x);
    x->ops = false;
    drain(x);
    kit_row(&x->g.k, KIND_INSTANT, RING_DEPTH_ENDS, x->g.cpu_us - 5, 0, NULL);
}

static void diagnose_rounds(struct diagnosis *d, enum operators of,
                            void (*round)(struct round_of *x))
{
    struct round_of x = {.g = kernel_kit_begin(), .ops = of == OPERATORS_OF_ALL};
    if (of == OPERATORS_OF_ONE) in_depth(&x, round);
    for (int i = 0; i < ROUNDS; i++) round(&x);
    struct trace *t = kernel_kit_end(&x.g);
    CHECK_EQ_INT(trace_cut_deep(&t, NULL), 0);
    CHECK_EQ_INT(t->deep != NULL, of == OPERATORS_OF_ONE);
    diagnose(d, t);
}

struct scene {
    void (*round)(struct round_of *x);
    const char *rule, *says;
};

static const struct scene scenes[] = {
    {unread_rows, "cheaper_way", "logits_to_keep"},
    {one_hot, "cheaper_way", "embedding(ids, weight)"},
    {inverse, "cheaper_way", "solve"},
    {filled_empty, "settings", "fill_uninitialized_memory"},
    {math_path, "unfused_attention", "sdpa_kernel(MATH)"},
    {copied_bias, "copy_before_gemm", "bias"},
    {frozen, "cheaper_way", "requires_grad_(False)"},
    {autocast, "repeated_conversion", "Keep the weights in"},
    {masked, "sync_in_loop", "nonzero_static"},
};

static const struct finding *said(const struct diagnosis *d, const struct scene *s)
{
    const struct finding *f = found(d, s->rule);
    return f && strstr(f->fix, s->says) ? f : NULL;
}

TEST(one_round_in_depth_says_what_all_rounds_say)
{
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        struct diagnosis all, one, none;
        diagnose_rounds(&all, OPERATORS_OF_ALL, scenes[i].round);
        diagnose_rounds(&one, OPERATORS_OF_ONE, scenes[i].round);
        diagnose_rounds(&none, OPERATORS_OF_NONE, scenes[i].round);
        const struct finding *a = said(&all, &scenes[i]), *b = said(&one, &scenes[i]);
        if (!CHECK(a != NULL) || !CHECK(b != NULL))
            fprintf(stderr, "%s: %s\n", scenes[i].rule, scenes[i].says);
        else CHECK_NEAR(a->gain_pct, b->gain_pct, 1.5);
        if (a && b) CHECK_EQ_INT(a->device_ns, b->device_ns);
        if (!CHECK(said(&none, &scenes[i]) == NULL))
            fprintf(stderr, "without operators: %s\n", scenes[i].says);
        done(&all);
        done(&one);
        done(&none);
    }
}

TEST(what_one_round_in_depth_rules_out_is_not_said)
{
    struct diagnosis d;
    diagnose_rounds(&d, OPERATORS_OF_ONE, autocast_trained);
    CHECK(found(&d, "repeated_conversion") == NULL);
    done(&d);
}

TEST_MAIN
