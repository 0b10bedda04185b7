/* test_launch_bound.c: launches that hold up the device, with labels and without, and what is taken
 * for that and is not. */
#include "analyze/launches/launches.h"

#include "diagnosis.h"
#include "kernel_kit.h"

#define STEPS   8
#define KERNELS 12

/* One step: an op with a launch every `every_us`, kernels of `kernel_us` as soon as they can. */
static double step(struct kit *k, double at, double every_us, double kernel_us)
{
    static const char *const names[KERNELS] = {"vectorized_elementwise_kernel<mul>",
                                               "layer_norm_kernel",
                                               "gemm_1",
                                               "elementwise_kernel<gelu>",
                                               "gemm_2",
                                               "elementwise_kernel<add>",
                                               "softmax_kernel",
                                               "gemm_3",
                                               "gemm_4",
                                               "elementwise_kernel<add2>",
                                               "elementwise_kernel<mul2>",
                                               "reduce_kernel<mean>"};
    for (int i = 0; i < KERNELS; i++) {
        kit_op(k, "aten::op", at, every_us - 2);
        kit_launch(k, at + 5, names[i], at + 14, kernel_us);
        at += every_us;
    }
    return at;
}

static struct trace *loop(double pause_us)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++) {
        at = step(&k, at, 30, 2);
        at += 10;
        if (pause_us > 0) {
            kit_launch(&k, at, "last", at + 9, 2);
            at += pause_us;
        }
    }
    return kit_end(&k);
}

static const struct finding_option *option(const struct finding *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_options; i++)
        if (strcmp(f->options[i].name, name) == 0) return &f->options[i];
    return NULL;
}

TEST(a_loop_without_labels_is_launch_bound)
{
    struct diagnosis d;
    diagnose(&d, loop(0));
    const struct finding *f = found(&d, "launch_bound");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->title, "launch-bound loop");
    CHECK_EQ_INT(f->effort, EFFORT_LOCAL);
    CHECK(f->gain_pct > 60);
    const struct finding_option *graph = option(f, "cuda_graph"), *fused = option(f, "compile"),
                                *batch = option(f, "larger_batch");
    REQUIRE(graph && fused && batch);
    CHECK_NEAR(graph->gain_pct, f->alone.gain_pct, 0.1);
    CHECK(fused->gain_pct > 15 && fused->gain_pct < graph->gain_pct);
    CHECK(batch->gain_pct > 40 && batch->gain_pct <= 50);
    CHECK_EQ_INT(fused->effort, EFFORT_ONE_LINE);
    done(&d);
}

/* A stage whose twelve launches take 30 us each, but one takes 600 ms: a library is loaded. */
static struct trace *loading(double slowest_us)
{
    struct kit k = kit_begin();
    double at = 10;
    for (int i = 0; i < KERNELS; i++) {
        k.call_us = i == 5 ? slowest_us : 5;
        kit_op(&k, "aten::op", at, k.call_us + 24);
        kit_launch(&k, at + 5, "gemm", at + k.call_us + 10, 20);
        at += k.call_us + 26;
    }
    kit_label(&k, "forward", 0, at);
    return kit_end(&k);
}

TEST(near_miss_one_launch_that_loads_a_library)
{
    struct diagnosis d;
    diagnose(&d, loading(629000));
    CHECK(found(&d, "launch_bound") == NULL);
    CHECK(wall_of(&d.cx)->bound != BOUND_LAUNCH);
    done(&d);
}

static const struct checklist_answer *answer(const struct diagnosis *d, const char *id)
{
    for (uint32_t i = 0; i < checklist_of(&d->cx)->n; i++)
        if (strcmp(checklist_of(&d->cx)->items[i].id, id) == 0)
            return &checklist_of(&d->cx)->items[i];
    return NULL;
}

/* A graph of 200 kernels: 199 wait when the first one starts, in every view. The checklist says who
 * runs ahead, in the words of the launches; the greatest depth alone does not tell, so it has none.
 */
TEST(queue_depth_is_one_figure)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaGraphLaunch", 0, 20);
    for (int i = 0; i < 200; i++) kit_work(&k, KIND_KERNEL, "node", 30 + i * 10, 10);
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    const struct checklist_answer *a = answer(&d, "launch_latency");
    CHECK_EQ_INT(context_need(&d.cx, &launches_pass, NULL), 0);
    REQUIRE(a && CHECK_EQ_UINT(launches_of(&d.cx)->n_devices, 1));
    CHECK_EQ_UINT(launches_of(&d.cx)->devices[0].queue.deepest, 200);
    CHECK_EQ_UINT(queues_deepest(queues_of(&d.cx)), 200);
    CHECK(strstr(a->verdict, ahead_words(launches_of(&d.cx)->devices[0].ahead)) != NULL);
    CHECK(strstr(a->verdict, "queue depth") == NULL);
    done(&d);
}

/* Compiled, but neither fused nor replayed: the compiler did nothing for it. */
TEST(a_compiled_region_of_plain_kernels_is_not_healthy)
{
    static const char *const kernels[] = {"ampere_sgemm_128x64", "triton_poi_fused_add_0"};
    for (int fused = 0; fused < 2; fused++) {
        struct kit k = kit_begin();
        kit_op(&k, "Torch-Compiled Region: 0/0", 0, 100);
        for (int i = 0; i < 4; i++) kit_launch(&k, 5 + i * 10, kernels[fused], 20 + i * 20, 15);
        struct diagnosis d;
        diagnose(&d, kit_end(&k));
        const struct checklist_answer *a = answer(&d, "compile");
        REQUIRE(a != NULL);
        CHECK(a->known);
        CHECK_EQ_INT(a->healthy, fused);
        CHECK(strstr(a->verdict, "compiled: 4 kernels") != NULL);
        done(&d);
    }
}

/* Captured by hand, or by XLA: nothing shows torch's compiler. */
TEST(a_graph_alone_is_not_called_compiled)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaGraphLaunch", 0, 20);
    for (int i = 0; i < 30; i++) kit_work(&k, KIND_KERNEL, "ampere_sgemm_64", 30 + i * 10, 10);
    for (int i = 0; i < 10; i++) kit_launch(&k, 30 + i * 10, "sample", 340 + i * 10, 5);
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    const struct checklist_answer *a = answer(&d, "compile");
    REQUIRE(a != NULL);
    CHECK(a->known && a->healthy);
    CHECK_EQ_STR(a->verdict, "CUDA graphs: 40 kernels, 75 % of them replayed");
    done(&d);
}

/* 5 ms in which nothing is recorded, once a step: no graph removes that. */
TEST(near_miss_what_is_between_launches_is_not_launching)
{
    struct diagnosis d;
    diagnose(&d, loop(5000));
    const struct finding *f = found(&d, "launch_bound");
    CHECK(!f || f->gain_pct < 7);
    done(&d);
}

/* Kernels of 40 us are not what keeps a CPU from launching in time, whatever it does between. */
TEST(near_miss_kernels_that_are_long_enough)
{
    static const double kernel_us[] = {15, 40};
    for (int i = 0; i < 2; i++) {
        struct kit k = kit_begin();
        double at = 0;
        for (int s = 0; s < STEPS; s++) at = step(&k, at, 70, kernel_us[i]) + 10;
        struct diagnosis d;
        diagnose(&d, kit_end(&k));
        CHECK_EQ_INT(found(&d, "launch_bound") != NULL, kernel_us[i] < 20);
        done(&d);
    }
}

/* Short work, far apart, as when a library sets up its channels: with hardly any kernels there is
 * nothing to gather. Copies inside the device count as kernels: a graph contains them, too. */
TEST(near_miss_fills_and_copies_from_the_host)
{
    static const struct {
        const char *name;
        enum row_kind kind;
        bool fires;
    } all[] = {{"Memset (Device)", KIND_MEMSET, false},
               {"Memcpy HtoD (Pinned -> Device)", KIND_MEMCPY, false},
               {"Memcpy DtoD (Device -> Device)", KIND_MEMCPY, true},
               {"elementwise_kernel<add>", KIND_KERNEL, true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct kit k = kit_begin();
        for (int s = 0; s < STEPS; s++) {
            kit_label(&k, "set_up", s * 400, 390);
            for (int n = 0; n < 10; n++) {
                double at = s * 400 + n * 30 + 5;
                kit_call(&k, n ? "cudaMemsetAsync" : "cudaLaunchKernel", at, 5);
                kit_work(&k, n ? all[i].kind : KIND_KERNEL, n ? all[i].name : "first", at + 9, 2);
            }
        }
        struct diagnosis d;
        diagnose(&d, kit_end(&k));
        CHECK_EQ_INT(found(&d, "launch_bound") != NULL, all[i].fires);
        done(&d);
    }
}

/* A graph of 40 nodes and four launches that feed it: launched as one already, whatever is idle. */
TEST(near_miss_most_kernels_are_in_graphs)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++, at += 400) {
        kit_label(&k, "decode", at, 390);
        for (int i = 0; i < 9; i++) kit_launch(&k, at + i * 15, "feed", at + i * 15 + 9, 2);
        kit_call(&k, "cudaGraphLaunch", at + 140, 10);
        for (int i = 0; i < 40; i++) kit_work(&k, KIND_KERNEL, "node", at + 155 + i * 3, 2);
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    CHECK(found(&d, "launch_bound") == NULL);
    done(&d);
}

/* Without torch there is no torch.compile. */
TEST(advice_fits_the_program)
{
    struct kit k = kit_begin();
    char name[32];
    for (int s = 0; s < STEPS; s++)
        for (int i = 0; i < KERNELS; i++) {
            double at = s * 400 + i * 30;
            snprintf(name, sizeof name, "kernel%d", i);
            kit_launch(&k, at, name, at + 9, 2);
        }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    const struct finding *f = found(&d, "launch_bound");
    REQUIRE(f != NULL);
    CHECK(option(f, "compile") == NULL);
    CHECK(option(f, "cuda_graph") != NULL);
    CHECK(strstr(f->fix, "torch") == NULL);
    done(&d);
}

/* A training step: that of the optimizer is the business of another rule, and part of the loop. */
TEST(an_optimizer_is_not_a_stage_of_this_rule)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++) {
        kit_label(&k, "Optimizer.zero_grad#AdamW.zero_grad", at, 5);
        at = step(&k, at + 10, 30, 2);
        kit_label(&k, "Optimizer.step#AdamW.step", at, 40 * 20);
        for (int i = 0; i < 40; i++, at += 20) kit_launch(&k, at, "adam", at + 9, 2);
        at += 10;
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    const struct finding *f = found(&d, "launch_bound");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->title, "launch-bound loop");
    CHECK_EQ_STR(f->subject, "52 launches per step");
    done(&d);
}

/* A training step in which autograd's thread takes `wake_us` to wake up; `elsewhere` puts the pause
 * before the forward pass, where nobody knows what it is. */
static double graph_gain(double wake_us, bool elsewhere)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++) {
        k.tid = 100; /* as the process: the first thread */
        kit_label(&k, "Optimizer.zero_grad#SGD.zero_grad", at, 5);
        at = step(&k, at + 10 + (elsewhere ? wake_us : 0), 30, 2);
        at += elsewhere ? 50 : wake_us;
        k.tid = 200;
        for (int i = 0; i < 20; i++, at += 30) {
            kit_op(&k, "autograd::engine::evaluate_function: MmBackward0", at, 28);
            kit_launch(&k, at + 5, "gemm_b", at + 14, 2);
        }
        k.tid = 100;
        kit_label(&k, "Optimizer.step#SGD.step", at + 20, 60);
        kit_launch(&k, at + 50, "sgd", at + 60, 2);
        at += 90;
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    const struct finding *f = found(&d, "launch_bound");
    double gain = f ? f->alone.gain_pct : 0;
    done(&d);
    return gain;
}

/* Forward, backward and optimizer go into one graph: no thread has to be woken then. */
TEST(waking_autograd_is_part_of_the_step)
{
    CHECK(graph_gain(3000, false) > 85);
    CHECK(graph_gain(3000, true) < 30);
}

/* empty_cache() in the loop: a graph cannot even hold the allocations it makes. */
static struct trace *emptied_cache(double malloc_us)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++) {
        kit_label(&k, "forward", at, 2 * 30 * KERNELS + malloc_us);
        at = step(&k, at, 30, 10);
        kit_call(&k, "cudaMalloc", at, malloc_us);
        at = step(&k, at + malloc_us, 30, 10) + 10;
    }
    return kit_end(&k);
}

TEST(the_cheaper_of_two_fixes_for_the_same_time_comes_first)
{
    struct diagnosis d;
    diagnose(&d, emptied_cache(300));
    const struct findings *f = findings_of(&d.cx);
    REQUIRE(f->n >= 2);
    CHECK_EQ_STR(f->items[0]->rule->id, "allocation_in_loop");
    CHECK_EQ_STR(f->items[1]->rule->id, "launch_bound");
    CHECK(f->items[0]->gain_pct > 20);
    done(&d);
}

/* Once the loop is a graph the GPU hides the walk; without one, the walk is worth a quarter. */
TEST(what_gains_by_itself_is_reported_though_the_fix_above_hides_it)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++) {
        kit_label(&k, "round", at, 300 + 2 * KERNELS * 40);
        kit_python(&k, "walk.py(3): walk", at, 300);
        at = step(&k, at + 300, 40, 18);
        at = step(&k, at, 40, 18) + 5;
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    const struct finding *graph = found(&d, "launch_bound"), *walk = found(&d, "late_launch");
    REQUIRE(graph != NULL && walk != NULL);
    CHECK(graph->gain_pct > 30);
    CHECK(walk->alone.gain_pct > 15 && walk->gain_pct < 3);
    CHECK_EQ_INT(walk->severity, SEVERITY_LOW);
    done(&d);
}

/* The gain of one line is so small that whoever reads on must not stop there. */
TEST(near_miss_a_cheap_fix_that_gains_little_does_not_come_first)
{
    struct diagnosis d;
    diagnose(&d, emptied_cache(20));
    const struct findings *f = findings_of(&d.cx);
    REQUIRE(f->n >= 1);
    CHECK_EQ_STR(f->items[0]->rule->id, "launch_bound");
    done(&d);
}

/* backward(): the main thread is in a function that launches nothing, for autograd does. */
TEST(waiting_for_the_backward_pass_holds_up_nothing)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++) {
        at = step(&k, at, 30, 20);
        kit_python(&k, "torch/autograd/graph.py(860): _engine_run_backward", at, 2000);
        k.tid = 2;
        for (int i = 0; i < 60; i++) {
            kit_op(&k, "autograd::engine::evaluate_function: MmBackward0", at + i * 30, 28);
            kit_launch(&k, at + i * 30 + 5, "gemm_b", at + i * 30 + 14, 20);
        }
        k.tid = 1;
        at += 2100;
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    CHECK(found(&d, "late_launch") == NULL);
    done(&d);
}

/* ---- items one by one ---- */

struct joining {
    int items, ops;     /* `ops`: of each */
    const char *joined; /* dimensions of what is joined at the end; NULL: nothing is */
    bool differ;        /* each item is worked on otherwise */
};

/* Steps of items that take 12 operators each, 11 us apart, with kernels of 4 us that leave seven
 * eighths of the device idle. */
static struct kernel_kit joining(const struct joining *x)
{
    static const char *const ops[] = {"aten::mul", "aten::add", "aten::sub", "aten::div",
                                      "aten::mul", "aten::sub", "aten::add", "aten::mul",
                                      "aten::div", "aten::add", "aten::add", "aten::sub"};
    struct kernel_kit g = kernel_kit_begin();
    g.grid[0] = 132;
    g.block[0] = 256;
    for (int i = 0; i < 4 * x->items; i++) {
        for (int k = 0; k < x->ops; k++)
            kernel_kit_call(
                &g, ops[(x->differ ? k * (1 + i % 5) : k) % 12], "[[64, 1024], [64, 1024]]", F32_2,
                "void at::native::vectorized_elementwise_kernel<4, AddFunctor<float> >", 4);
        if (i % x->items == x->items - 1 && x->joined)
            kernel_kit_call(&g, "aten::cat", x->joined, "[\"TensorList\", \"Scalar\"]",
                            "void at::native::CatArrayBatchedCopy<float>", 4);
    }
    return g;
}

#define FOUR  "[[[64, 8], [64, 8], [64, 8], [64, 8]], []]"
#define THREE "[[[64, 8], [64, 8], [64, 8]], []]"

/* Four items of 132 us on the CPU become one, whose kernels take no longer. */
TEST(items_that_are_joined_could_be_one_batch)
{
    struct joining x = {4, 12, FOUR, false};
    struct diagnosis d;
    struct kernel_kit g = joining(&x);
    diagnose(&d, kernel_kit_end(&g));
    const struct finding *f = found(&d, "launch_bound");
    const struct finding_option *batch = f ? option(f, "one_batch") : NULL;
    if (CHECK(batch != NULL)) {
        CHECK_EQ_STR(batch->what, "one batch of 4");
        CHECK_NEAR(batch->gain_pct, 100 * 3 * 132.0 / (4 * 132 + 11), 5);
        CHECK(option(f, "larger_batch") == NULL);
    }
    done(&d);
}

TEST(items_near_misses)
{
    static const struct joining cases[] = {
        {4, 12, NULL, false}, /* nothing is joined: steps of a solver */
        {3, 12, THREE, false},
        {4, 6, FOUR, false}, /* a loop over tensors */
        {4, 12, FOUR, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis d;
        struct kernel_kit g = joining(&cases[i]);
        diagnose(&d, kernel_kit_end(&g));
        const struct finding *f = found(&d, "launch_bound");
        /* without steps that repeat there is no loop either */
        if (CHECK(f != NULL || cases[i].differ)) CHECK(!f || !option(f, "one_batch"));
        done(&d);
    }
}

TEST_MAIN
