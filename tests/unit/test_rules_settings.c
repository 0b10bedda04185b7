/* test_rules_settings.c: settings that cost time, by what they leave in a timeline: one trace on
 * which each is recognized, with the gain, and near misses. */
#include "diagnosis.h"
#include "kit.h"

#define COMPARE "void at::native::vectorized_elementwise_kernel<4, BinaryFunctor<CompareEqFunctor>"
#define ANY     "void at::native::reduce_kernel<512, 1, ReduceOp<bool, or_kernel_cuda> >"

static void check_found(struct kit *k, const char *subject, double pct, double off)
{
    struct diagnosis d;
    diagnose(&d, kit_end(k));
    const struct finding *f = found(&d, "settings");
    if (CHECK(f != NULL)) {
        CHECK_EQ_STR(f->subject, subject);
        CHECK_NEAR(f->gain_pct, pct, off);
    }
    done(&d);
}

static void check_silent(struct kit *k)
{
    struct diagnosis d;
    diagnose(&d, kit_end(k));
    const struct finding *f = found(&d, "settings");
    if (!CHECK(f == NULL)) fprintf(stderr, "%s\n", f->title);
    done(&d);
}

/* ---- anomaly detection ---- */

struct anomaly {
    struct kit k;
    double us;
    bool ops, checks, stacks;
    int64_t sequence;
};

static struct anomaly anomaly_begin(bool ops, bool checks, bool stacks)
{
    struct anomaly x = {kit_begin(), 0, ops, checks, stacks, 1};
    x.k.pid = 1;
    return x;
}

/* A launch of the forward pass, 20 us; 100 us where the stack is written down before. */
static void anomaly_forward(struct anomaly *x)
{
    double lead = x->stacks ? 90 : 10;
    if (x->ops) kit_autograd_op(&x->k, "aten::mm", x->us, lead + 8, x->sequence++, 0);
    x->us += lead;
    kit_launch(&x->k, x->us, "nvjet", x->us + 8, 3);
    x->us += 10;
}

/* isnan, any, item: 60 us. */
static void anomaly_check(struct anomaly *x)
{
    if (x->ops) {
        kit_op(&x->k, "aten::isnan", x->us, 18);
        kit_op(&x->k, "aten::_is_any_true", x->us + 19, 18);
    }
    kit_launch(&x->k, x->us + 10, COMPARE, x->us + 18, 2);
    kit_launch(&x->k, x->us + 29, ANY, x->us + 36, 2);
    x->k.bytes = 1;
    if (x->ops) kit_op(&x->k, "aten::item", x->us + 38, 22);
    kit_call(&x->k, "cudaMemcpyAsync", x->us + 42, 5);
    kit_work(&x->k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", x->us + 50, 1);
    kit_call(&x->k, "cudaStreamSynchronize", x->us + 48, 10);
    x->us += 62;
}

/* A node: 20 us, and its check. */
static void anomaly_node(struct anomaly *x)
{
    double begin = x->us;
    if (x->ops) {
        kit_op(&x->k, "autograd::engine::evaluate_function: MmBackward0", begin,
               x->checks ? 84 : 20);
        kit_op(&x->k, "aten::mm", begin + 1, 17);
    }
    kit_launch(&x->k, begin + 10, "nvjet_backward", begin + 18, 3);
    x->us = begin + 20;
    if (x->checks) anomaly_check(x);
    x->us += 2;
}

static void anomaly_step(struct anomaly *x)
{
    double begin = x->us;
    for (int i = 0; i < 12; i++) anomaly_forward(x);
    x->k.tid = 2;
    for (int i = 0; i < 12; i++) anomaly_node(x);
    x->k.tid = 1;
    x->us += 20;
    kit_launch(&x->k, x->us, "adam", x->us + 8, 3);
    x->us += 20;
    kit_label(&x->k, "step", begin, x->us - begin);
}

static struct anomaly *anomaly_steps(struct anomaly *x)
{
    for (int i = 0; i < 4; i++) anomaly_step(x);
    return x;
}

/* Of a step: 12 x 100 us forward, of which 80 are the stack's, and 12 x 84 us backward, of which 62
 * are the check's. */
TEST(anomaly_detection_is_recognized)
{
    for (int ops = 0; ops < 2; ops++) {
        struct anomaly x = anomaly_begin(ops, true, true);
        check_found(&anomaly_steps(&x)->k, "torch.autograd.set_detect_anomaly",
                    100 * (12 * 80 + 12 * 62.0) / (12 * 100 + 12 * 84 + 40), 9);
    }
}

TEST(anomaly_near_miss_no_checks)
{
    struct anomaly x = anomaly_begin(true, false, false);
    check_silent(&anomaly_steps(&x)->k);
}

/* The program looks for NaN itself: for all of its gradients in a row, after the backward pass. */
TEST(anomaly_near_miss_checks_of_the_program)
{
    for (int ops = 0; ops < 2; ops++) {
        struct anomaly x = anomaly_begin(ops, false, false);
        for (int i = 0; i < 4; i++) {
            anomaly_step(&x);
            for (int k = 0; k < 12; k++) anomaly_check(&x);
        }
        check_silent(&x.k);
    }
}

/* A hook on one tensor in the backward pass. */
TEST(anomaly_near_miss_a_hook_that_checks_one_gradient)
{
    struct anomaly x = anomaly_begin(true, false, false);
    for (int i = 0; i < 4; i++) {
        x.checks = false;
        anomaly_step(&x);
        x.k.tid = 2;
        x.checks = true;
        anomaly_node(&x);
        x.k.tid = 1;
    }
    check_silent(&x.k);
}

/* ---- launches that wait ---- */

/* Launches of 5 us or as long as their kernels, which take 40 us, prepared for 60 us each. */
static void blocking_run(struct kit *k, bool waits)
{
    double us = 0, device = 0;
    for (int i = 0; i < 60; i++) {
        us += 60;
        k->call_us = waits ? 48 : 5;
        double begin = us + 5 > device ? us + 5 : device;
        kit_launch(k, us, "gemm", begin, 40);
        device = begin + 41;
        us += k->call_us;
    }
    k->call_us = 5;
}

/* Of 108 us for each, 43 go. Some 19 of them are held to be the recording's, whose cost is
 * estimated from how long launches take: the gain is less than it is. */
TEST(launches_that_wait_are_recognized)
{
    struct kit k = kit_begin();
    blocking_run(&k, true);
    check_found(&k, "CUDA_LAUNCH_BLOCKING", 100 * (43.0 - 19) / (108 - 19), 6);
}

TEST(launches_that_wait_near_miss_a_full_queue)
{
    struct kit k = kit_begin();
    blocking_run(&k, false);
    check_silent(&k);
}

/* ---- memory that is not kept ---- */

static void uncached_run(struct kit *k, int of, const char *take, const char *give)
{
    double us = 0;
    for (int i = 0; i < 80; i++) {
        kit_op(k, "aten::mm", us, 20);
        if (i % of == 0) kit_call(k, take, us + 1, 8);
        kit_launch(k, us + 12, "gemm", us + 18, 10);
        if (i % of == 0) kit_call(k, give, us + 21, 30);
        us += 55;
    }
}

TEST(memory_that_is_not_kept)
{
    struct kit k = kit_begin();
    uncached_run(&k, 1, "cudaMalloc", "cudaFree");
    /* of 55 us per launch 17 stay, without what recording the calls took */
    check_found(&k, "PYTORCH_NO_CUDA_MEMORY_CACHING", 100 * 41.0 / 55, 6);
}

TEST(memory_near_miss_a_cache_that_is_emptied_or_a_pool)
{
    struct kit k = kit_begin();
    uncached_run(&k, 20, "cudaMalloc", "cudaFree");
    check_silent(&k);
    k = kit_begin();
    uncached_run(&k, 1, "cudaMallocAsync", "cudaFreeAsync");
    check_silent(&k);
}

/* ---- memory that is filled ---- */

static void filled_run(struct kit *k, bool below)
{
    double us = 0;
    for (int i = 0; i < 40; i++) {
        kit_op(k, "aten::empty", us, below ? 12 : 2);
        kit_op(k, "aten::fill_", us + 3, 8);
        kit_launch(k, us + 4, "FillFunctor", us + 20, 10);
        kit_op(k, "aten::mm", us + 13, 10);
        kit_launch(k, us + 14, "gemm", us + 31, 30);
        us += 42;
    }
}

TEST(new_memory_that_is_filled)
{
    struct kit k = kit_begin();
    filled_run(&k, true);
    check_found(&k, "torch.use_deterministic_algorithms", 100 * 10.0 / 42, 4);
}

TEST(filled_near_miss_a_fill_of_the_program)
{
    struct kit k = kit_begin();
    filled_run(&k, false);
    check_silent(&k);
}

/* ---- searches of cuDNN ---- */

/* A convolution that tries `tries` algorithms, each with a wait for an event. */
static double conv(struct kit *k, double us, int tries)
{
    double begin = us;
    struct intern *strings = batch_strings(k->p);
    struct op_info op = {
        ID_NONE,  ID_NONE,
        0,        intern_add(strings, str_c("[[1, 64, 300, 512], [64, 64, 3, 3], [], []]")),
        STR_NONE, STR_NONE};
    kit_row(k, KIND_OP, "aten::cudnn_convolution", begin, 30 + 200.0 * tries, &op);
    for (int i = 0; i < tries; i++) {
        kit_launch(k, us + 2, "implicit_convolve_sgemm", us + 10, 20);
        kit_call(k, "cudaEventSynchronize", us + 8, 180);
        us += 200;
    }
    kit_launch(k, us + 20, "implicit_convolve_sgemm", us + 28, 20);
    return us + 50;
}

static void conv_steps(struct kit *k, int tries, int steps_that_search)
{
    double us = 0;
    for (int i = 0; i < 12; i++) {
        us = conv(k, us, i < steps_that_search ? tries : 0);
        us = conv(k, us, 0);
    }
}

TEST(searches_for_sizes_that_keep_coming)
{
    struct kit k = kit_begin();
    conv_steps(&k, 8, 12);
    check_found(&k, "torch.backends.cudnn.benchmark", 100 * 1600.0 / 1700, 4);
}

TEST(searches_near_miss_the_first_step_or_single_waits)
{
    struct kit k = kit_begin();
    conv_steps(&k, 8, 2);
    check_silent(&k);
    k = kit_begin();
    conv_steps(&k, 1, 12);
    check_silent(&k);
}

/* ---- what the recording has read in the process ---- */

static void kit_settings(struct kit *k, const char *value)
{
    kit_meta(k, TRACE_META_SETTINGS, value);
}

/* Evidence is not enough where the recording knows that the setting is off: the program checks the
 * result of every node itself. */
TEST(evidence_of_a_setting_that_is_off)
{
    struct anomaly x = anomaly_begin(true, true, true);
    anomaly_steps(&x);
    kit_settings(&x.k, "[[\"anomaly_detection\",\"off\"]]");
    check_silent(&x.k);
    x = anomaly_begin(true, true, true);
    anomaly_steps(&x);
    kit_settings(&x.k, "[[\"anomaly_detection\",\"off\"],[\"anomaly_detection\",\"on\"]]");
    check_found(&x.k, "torch.autograd.set_detect_anomaly",
                100 * (12 * 80 + 12 * 62.0) / (12 * 100 + 12 * 84 + 40), 9);
}

TEST(launches_that_wait_without_the_variable)
{
    struct kit k = kit_begin();
    blocking_run(&k, true);
    kit_settings(&k, "[[\"threads\",\"16\"]]");
    check_silent(&k);
    k = kit_begin();
    blocking_run(&k, true);
    kit_settings(&k, "[[\"HIP_LAUNCH_BLOCKING\",\"1\"]]");
    check_found(&k, "CUDA_LAUNCH_BLOCKING", 100 * (43.0 - 19) / (108 - 19), 6);
}

/* Kernels of `gpu_us`, one launched every 50 us. */
static void paced_run(struct kit *k, double gpu_us, const char *kernel)
{
    for (int i = 0; i < 200; i++) kit_launch(k, i * 50, kernel, i * 50 + 8, gpu_us);
}

/* A note without a gain, in the words of `subject`; none where that is NULL. */
static void check_noted(struct kit *k, const char *settings, const char *subject)
{
    struct diagnosis d;
    if (settings) kit_settings(k, settings);
    diagnose(&d, kit_end(k));
    const struct finding *f = found(&d, "settings");
    if (!subject) {
        if (!CHECK(f == NULL)) fprintf(stderr, "%s\n", f->title);
    } else if (CHECK(f != NULL)) {
        CHECK_EQ_STR(f->subject, subject);
        CHECK(f->advice && f->severity == SEVERITY_LOW && !f->n_edits);
    }
    done(&d);
}

static void check_noted_paced(double gpu_us, const char *settings, const char *subject)
{
    struct kit k = kit_begin();
    paced_run(&k, gpu_us, "gemm");
    check_noted(&k, settings, subject);
}

TEST(settings_of_the_cpu_matter_where_the_gpu_waits_for_it)
{
    static const struct {
        const char *settings, *subject;
    } rows[] = {
        {"[[\"memory_history\",\"on\"]]", "torch.cuda.memory._record_memory_history"},
        {"[[\"emit_nvtx\",\"on\"]]", "torch.autograd.profiler.emit_nvtx"},
        {"[[\"TORCHDYNAMO_DISABLE\",\"1\"]]", "TORCHDYNAMO_DISABLE"},
        {"[[\"TORCH_COMPILE_DISABLE\",\"true\"]]", "TORCH_COMPILE_DISABLE"},
        {"[[\"cpus_beside_gpu\",\"0\"]]", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_noted_paced(20, rows[i].settings, rows[i].subject);
        check_noted_paced(49, rows[i].settings, NULL);
    }
    check_noted_paced(20, "[[\"memory_history\",\"off\"],[\"cpus_beside_gpu\",\"8\"]]", NULL);
    check_noted_paced(20, "[[\"TORCHDYNAMO_DISABLE\",\"0\"],[\"threads\",\"1\"]]", NULL);
    check_noted_paced(20, NULL, NULL);
}

TEST(settings_that_are_not_as_we_write_them_say_nothing)
{
    check_noted_paced(20, "\"memory_history\"", NULL);
    check_noted_paced(20, "[[\"memory_history\"],[1,\"on\"],3,[\"memory_history\",true]]", NULL);
}

TEST(a_part_of_the_gpu)
{
    const char *share = "[[\"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE\",\"30\"]]";
    check_noted_paced(40, share, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    check_noted_paced(10, share, NULL);
    check_noted_paced(40, "[[\"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE\",\"100\"]]", NULL);
}

TEST(a_way_between_gpus_that_is_switched_off)
{
    for (int alone = 0; alone < 2; alone++) {
        struct kit k = kit_begin();
        for (int i = 0; i < 50; i++) {
            kit_launch(&k, i * 100, "gemm", i * 100 + 8, alone ? 40 : 88);
            k.stream = 13;
            kit_launch(&k, i * 100 + 6, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                       i * 100 + (alone ? 49 : 14), 40);
            k.stream = 7;
        }
        check_noted(&k, "[[\"NCCL_P2P_DISABLE\",\"1\"]]", alone ? "NCCL_P2P_DISABLE" : NULL);
    }
}

/* On the CPU alone: 20 products of `us` each. */
static void check_threads(double us, const char *settings, const char *subject)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 20; i++) kit_op(&k, "aten::mm", i * (us + 100), us);
    check_noted(&k, settings, subject);
}

TEST(one_thread_for_operators_on_the_cpu)
{
    const char *one = "[[\"threads\",\"1\"],[\"cpus\",\"16\"]]";
    check_threads(3000, one, "torch.set_num_threads");
    check_threads(20, one, NULL);
    check_threads(3000, "[[\"threads\",\"16\"],[\"cpus\",\"16\"]]", NULL);
    check_threads(3000, "[[\"threads\",\"1\"],[\"cpus\",\"2\"]]", NULL);
}

TEST(anomaly_detection_on_the_cpu)
{
    check_threads(20, "[[\"anomaly_detection\",\"on\"]]", "torch.autograd.set_detect_anomaly");
    check_threads(20, "[[\"anomaly_detection\",\"off\"]]", NULL);
}

/* ---- cuDNN off ---- */

TEST(convolutions_without_cudnn)
{
    const char *kernel = "void at::native::im2col_kernel<float>(long, float const*)";
    for (int off = 0; off < 2; off++) {
        struct kit k = kit_begin();
        for (int i = 0; i < 100; i++) {
            kit_launch(&k, i * 20, kernel, i * 60 + 8, 20);
            kit_launch(&k, i * 20 + 10, "gemm", i * 60 + 29, 38);
        }
        kit_settings(&k, off ? "[[\"cudnn_enabled\",\"off\"]]" : "[[\"cudnn_enabled\",\"on\"]]");
        if (off) check_found(&k, "torch.backends.cudnn.enabled", 100 * 20.0 / 60, 4);
        else check_silent(&k);
    }
}

TEST_MAIN
