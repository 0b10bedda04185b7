/* test_rules_host.c: what the host does while the device waits, by name: each rule once where it
 * fires and once where it must not. */
#include "diagnosis.h"

#include "analyze/names/host_cause.h"
#include "import/import.h"
#include "scratch.h"

#define HERE    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define WORKERS HOST_CAUSE_WORKERS_NEXT

/* Eight steps: something that takes `us`, then a kernel of `kernel_us`. */
struct waiting_loop {
    const char *name;
    bool python; /* a function, else a label */
    double us, kernel_us;
};

static struct kit begin_loop(struct waiting_loop l)
{
    struct kit k = kit_begin();
    double gpu = 0, length = l.us + 200;
    for (int s = 0; s < 8; s++) {
        double at = s * length;
        kit_python(&k, "train.py(7): main", at + 1, length - 2);
        if (l.python) kit_python(&k, l.name, at + 2, l.us);
        else kit_label(&k, l.name, at + 2, l.us);
        kit_op(&k, "aten::mm", at + l.us + 10, 60);
        double ready = at + l.us + 30;
        gpu = gpu > ready ? gpu : ready;
        kit_launch(&k, at + l.us + 20, "gemm", gpu, l.kernel_us);
        gpu += l.kernel_us;
    }
    return k;
}

static void look(struct diagnosis *d, struct waiting_loop l)
{
    struct kit k = begin_loop(l);
    diagnose(d, kit_end(&k));
}

/* ---- late_start ---- */

/* One call of a pipeline: `us` of preparing, then kernels of 100 ms in all. */
static void start_with(struct diagnosis *d, const char *label, double us, bool launches)
{
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, us + 100300);
    kit_label(&k, label, 10, us);
    if (launches) kit_launch(&k, 20, "fill", 40, 20);
    kit_label(&k, "forward", us + 20, 100200);
    for (int i = 0; i < 100; i++)
        kit_launch(&k, us + 40 + i * 10, "gemm", us + 60 + i * 1000, 1000);
    diagnose(d, kit_end(&k));
}

TEST(late_start_before_the_first_kernel)
{
    struct diagnosis d;
    start_with(&d, "preprocess", 217000, false);
    const struct finding *f = found(&d, "late_start");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->subject, "preprocess");
    CHECK_EQ_INT(f->exposed_ns, kit_ns(217000));
    CHECK(f->gain_pct > 60 && f->gain_pct < 70);
    done(&d);
}

TEST(near_miss_late_start)
{
    struct diagnosis d;
    start_with(&d, "preprocess", 1000, false); /* next to nothing */
    CHECK(found(&d, "late_start") == NULL);
    done(&d);
    start_with(&d, "encode", 217000, true); /* it launches: the time is a gap */
    CHECK(found(&d, "late_start") == NULL);
    done(&d);
}

/* Frames before the first label, operator or call are before the wall clock begins. */
TEST(near_miss_late_start_before_the_wall_clock)
{
    struct kit k = kit_begin();
    kit_python(&k, "run.py(1): prepare", 10, 217000);
    kit_label(&k, "forward", 218000, 100200);
    for (int i = 0; i < 100; i++) kit_launch(&k, 218010 + i * 10, "gemm", 218100 + i * 1000, 1000);
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    CHECK(found(&d, "late_start") == NULL);
    done(&d);
}

/* ---- data_loader ---- */

TEST(data_loader_without_workers)
{
    struct diagnosis d;
    look(&d, (struct waiting_loop){HERE, false, 2000, 150});
    const struct finding *f = found(&d, "data_loader");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->title, "batches are loaded between the steps");
    CHECK(strstr(f->fix, "num_workers") != NULL);
    CHECK_EQ_STR(f->file, "train.py");
    CHECK(f->gain_pct > 70 && f->effort == EFFORT_ONE_LINE);
    CHECK(found(&d, "late_launch") == NULL && found(&d, "slow_launch") == NULL);
    done(&d);
}

TEST(data_loader_that_torch_gave_no_label)
{
    struct diagnosis d;
    look(&d, (struct waiting_loop){"/v/site-packages/torch/utils/data/dataloader.py(736): __next__",
                                   true, 2000, 150});
    const struct finding *f = found(&d, "data_loader");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->subject, "DataLoader");
    done(&d);
}

/* The wait is the workers' pace: without the profiler the step takes no less. */
TEST(data_loader_with_slow_workers)
{
    struct kit k = begin_loop((struct waiting_loop){WORKERS, false, 2000, 150});
    for (k.tid = 50; k.tid < 52; k.tid++)
        for (int i = 0; i < 4; i++) kit_derived(&k, "DataLoader worker", i * 4400.0, 4300);
    k.tid = 1;
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    const struct finding *f = found(&d, "data_loader");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->title, "the DataLoader's workers are too slow");
    CHECK_EQ_UINT(model_of(&d.cx)->n_threads, 1); /* workers are no threads of the program */
    const struct undistort *u = undistort_of(&d.cx);
    CHECK(u->plain_ns > u->traced_ns * 98 / 100);
    CHECK(f->gain_pct > 70);
    bool told = false;
    for (uint32_t i = 0; i < f->n_evidence; i++)
        told |= strstr(f->evidence[i].text, "4.30 ms in a worker; 2 workers") != NULL;
    CHECK(told);
    done(&d);
}

TEST(data_loader_near_miss_batches_that_are_ready)
{
    struct diagnosis d;
    look(&d, (struct waiting_loop){WORKERS, false, 150, 100});
    CHECK(found(&d, "data_loader") == NULL);
    done(&d);
}

TEST(data_loader_near_miss_loading_behind_the_gpu)
{
    struct diagnosis d;
    look(&d, (struct waiting_loop){HERE, false, 2000, 5000});
    CHECK(found(&d, "data_loader") == NULL);
    done(&d);
}

/* ---- gc_pause ---- */

TEST(gc_pause_by_itself)
{
    struct diagnosis d;
    look(&d, (struct waiting_loop){"Python GC (generation 2)", true, 3000, 150});
    const struct finding *f = found(&d, "gc_pause");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->title, "the garbage collector pauses the loop");
    CHECK(strstr(f->fix, "gc.freeze()") && strstr(f->fix, "gc.disable()"));
    CHECK(f->gain_pct > 80);
    CHECK(found(&d, "late_launch") == NULL);
    done(&d);
}

TEST(gc_pause_that_was_asked_for)
{
    static const char *const names[] = {"Python GC (gc.collect)", "<built-in function collect>"};
    for (int i = 0; i < 2; i++) {
        struct diagnosis d;
        look(&d, (struct waiting_loop){names[i], true, 3000, 150});
        const struct finding *f = found(&d, "gc_pause");
        REQUIRE(f != NULL);
        CHECK_EQ_STR(f->title, "gc.collect() inside the loop");
        done(&d);
    }
}

TEST(gc_pause_near_miss_while_the_gpu_works)
{
    struct diagnosis d;
    look(&d, (struct waiting_loop){"Python GC (generation 2)", true, 3000, 6000});
    CHECK(found(&d, "gc_pause") == NULL);
    done(&d);
}

TEST(gc_pause_near_miss_once)
{
    struct kit k = begin_loop((struct waiting_loop){"main.py(3): prepare", true, 100, 290});
    kit_python(&k, "Python GC (generation 2)", 1202, 90);
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    CHECK(found(&d, "gc_pause") == NULL);
    done(&d);
}

/* ---- graph_break ---- */

/* Steps of four compiled regions of four kernels; between them `eager` operators and a wait. */
static struct trace *regions(int eager, bool waits, double kernel_us)
{
    struct kit k = kit_begin();
    double at = 0, gpu = 0;
    for (int s = 0; s < 6; s++) {
        kit_label(&k, "step", at, 4 * (400 + eager * 100.0));
        for (int region = 0; region < 4; region++) {
            kit_op(&k, "Torch-Compiled Region: 1/0", at + 20, 300);
            for (int i = 0; i < 4; i++) {
                double call = at + 80 + i * 50;
                gpu = gpu > call + 10 ? gpu : call + 10;
                kit_launch(&k, call, "triton_poi_fused_add_0", gpu, kernel_us);
                gpu += kernel_us;
            }
            at += 340;
            for (int i = 0; i < eager; i++, at += 100) {
                kit_op(&k, "aten::abs", at, 80);
                kit_launch(&k, at + 20, "abs_kernel", gpu > at + 30 ? gpu : at + 30, 2);
                gpu = gpu > at + 30 ? gpu + 2 : at + 32;
            }
            if (waits) kit_item(&k, at, (gpu > at + 10 ? gpu : at + 10) + 5, 2);
            at = (gpu > at ? gpu : at) + 60;
        }
    }
    return kit_end(&k);
}

TEST(graph_break_that_looks_at_a_value)
{
    struct diagnosis d;
    diagnose(&d, regions(2, true, 8));
    const struct finding *f = found(&d, "graph_break");
    REQUIRE(f != NULL);
    CHECK(strstr(f->fix, "fullgraph=True") != NULL && strstr(f->fix, ".item()") != NULL);
    REQUIRE(CHECK_EQ_UINT(f->n_edits, 1));
    CHECK_EQ_UINT(f->edits[0].n_spans, 24); /* four per step: the last one is a break as well */
    CHECK_NEAR(f->alone.gain_pct, 70, 3);
    CHECK(found(&d, "eager_island") == NULL); /* the same thing, without a price */
    done(&d);
}

TEST(graph_break_near_miss_blocks_compiled_one_by_one)
{
    struct diagnosis d;
    diagnose(&d, regions(0, false, 8));
    CHECK(found(&d, "graph_break") == NULL);
    done(&d);
}

TEST(graph_break_near_miss_a_part_of_the_program)
{
    struct diagnosis d;
    diagnose(&d, regions(20, false, 8));
    CHECK(found(&d, "graph_break") == NULL);
    done(&d);
}

/* Our own recording, without operators: calls of a module, in which kernels of a compiler and
 * torch's own take turns, four times; `waits` reads a value after each. */
static struct trace *kernels_in_turns(bool waits)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < 6; s++) {
        double begin = at;
        for (int region = 0; region < 4; region++) {
            for (int i = 0; i < 4; i++, at += 20)
                kit_launch(&k, at + 5, i == 1 ? "nvjet_sm90_tst" : "triton_poi_fused_add_0",
                           at + 12, 4);
            kit_launch(&k, at + 15, "void at::native::reduce_kernel<512>", at + 22, 2);
            at += 30;
            if (waits) kit_item(&k, at, at + 10, 5);
            at += 80;
        }
        kit_derived(&k, "Guarded", begin, at - begin);
        at += 10;
    }
    return kit_end(&k);
}

TEST(graph_break_by_the_names_of_kernels)
{
    struct diagnosis d;
    diagnose(&d, kernels_in_turns(true));
    const struct finding *f = found(&d, "graph_break");
    REQUIRE(f != NULL);
    CHECK(strstr(f->fix, "fullgraph=True") != NULL);
    CHECK_NEAR(f->alone.gain_pct, 100 * 110.0 / 190, 12);
    done(&d);
}

/* What inductor does not compile it calls: torch's own kernels in one graph. */
TEST(graph_break_near_miss_what_the_compiler_calls)
{
    struct diagnosis d;
    diagnose(&d, kernels_in_turns(false));
    CHECK(found(&d, "graph_break") == NULL);
    done(&d);
}

/* ---- recompile ---- */

/* Steps that compile for `us`, each under a name. */
static struct trace *compiling(const char *const *names, int n, double us)
{
    struct kit k = kit_begin();
    for (int s = 0; s < n; s++) {
        double at = s * (us + 1000);
        kit_python(&k, "train.py(7): main", at, us + 900);
        if (names[s]) kit_derived(&k, names[s], at + 10, us);
        for (int i = 0; i < 5; i++)
            kit_launch(&k, at + us + 100 + i * 100, i % 2 ? "gemm" : "add", at + us + 110 + i * 100,
                       60);
    }
    return kit_end(&k);
}

TEST(recompile_again_and_again_has_a_price)
{
    static const char *const names[] = {
        "TorchDynamo compile: pool 0/4", "TorchDynamo compile: pool 0/5",
        "TorchDynamo compile: pool 0/6", "TorchDynamo compile: pool 0/7"};
    struct diagnosis d;
    diagnose(&d, compiling(names, 4, 500000));
    const struct finding *f = found(&d, "recompile");
    REQUIRE(f != NULL);
    CHECK(!f->advice && f->gain_pct > 95);
    CHECK_EQ_STR(f->file, "train.py");
    CHECK_EQ_INT(f->blocked_ns, 2000000000);
    done(&d);
}

TEST(recompile_near_miss_the_first_time)
{
    static const char *const names[] = {"TorchDynamo compile: pool 0/0", NULL, NULL, NULL};
    struct diagnosis d;
    diagnose(&d, compiling(names, 4, 500000));
    CHECK(found(&d, "recompile") == NULL);
    done(&d);
}

/* ---- host_function ---- */

/* Steps in which to_bytes() waits for a copy and then does four things of `us` each. */
static struct trace *converting_before(double us, double gap_us, const char *next)
{
    static const char *const parts[] = {
        "/v/site-packages/numpy/_core/_methods.py(96): _clip", "<built-in method round of x>",
        "<built-in method astype of x>", "<built-in method copy of x>"};
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < 6; s++) {
        double end = at + 400 + 4 * (us + gap_us);
        kit_python(&k, "app.py(20): call", at, end - at);
        kit_launch(&k, at + 10, "conv", at + 20, 200);
        kit_python(&k, "app.py(8): to_bytes", at + 30, end - at - 40);
        kit_item(&k, at + 40, at + 230, 5);
        for (int i = 0; i < 4; i++) kit_python(&k, parts[i], at + 300 + i * (us + gap_us), us);
        if (next) kit_launch(&k, end - 5, next, end + 5, 1);
        at = end + (next ? 10 : 0);
    }
    return kit_end(&k);
}

static struct trace *converting(double us, double gap_us)
{
    return converting_before(us, gap_us, NULL);
}

TEST(host_function_does_many_things_between_two_calls)
{
    struct diagnosis d;
    diagnose(&d, converting(1000, 500));
    const struct finding *f = found(&d, "host_function");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->subject, "to_bytes");
    CHECK_EQ_STR(f->file, "app.py");
    CHECK(strstr(f->fix, "on the GPU before the copy") != NULL); /* arrays */
    CHECK(f->gain_pct > 80);
    CHECK(found(&d, "late_launch") == NULL && found(&d, "slow_launch") == NULL);
    done(&d);
}

/* What comes before a launch of cuDNN's attention is its plan. */
TEST(host_function_that_makes_plans_for_attention)
{
    static const char *const kernels[] = {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop",
                                          "flash_fwd_kernel"};
    for (int i = 0; i < 2; i++) {
        struct diagnosis d;
        diagnose(&d, converting_before(1000, 500, kernels[i]));
        const struct finding *f = found(&d, "host_function");
        if (CHECK(f != NULL)) CHECK_EQ_INT(strstr(f->fix, "enable_cudnn_sdp") != NULL, i == 0);
        done(&d);
    }
}

TEST(host_function_near_miss_short_work)
{
    struct diagnosis d;
    diagnose(&d, converting(20, 5));
    CHECK(found(&d, "host_function") == NULL);
    done(&d);
}

/* Whole calls that launch nothing are late_launch's. */
TEST(host_function_near_miss_one_quiet_call)
{
    struct diagnosis d;
    look(&d, (struct waiting_loop){"train.py(30): walk", true, 2000, 150});
    CHECK(found(&d, "host_function") == NULL);
    CHECK(found(&d, "late_launch") != NULL);
    done(&d);
}

/* ---- lock_wait ---- */

/* Two threads take turns: each launches and then works for `us` behind a lock. With `python` the
 * second one runs the user's code, else it is torch's own. */
static struct trace *taking_turns(double us, bool python)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 12; s++) {
        double at = s * (us + 300);
        k.tid = 1 + s % 2;
        if (k.tid == 1 || python)
            kit_python(&k, "serve.py(12): guarded", at - (s > 1 ? us + 290 : 0),
                       us + 280 + (s > 1 ? us + 290 : 0));
        for (int i = 0; i < 4; i++) kit_launch(&k, at + 10 + i * 40, "gemm", at + 20 + i * 40, 35);
    }
    return kit_end(&k);
}

TEST(lock_wait_of_two_threads_that_launch)
{
    struct diagnosis d;
    diagnose(&d, taking_turns(2000, true));
    const struct finding *f = found(&d, "lock_wait");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->function, "guarded");
    CHECK(strstr(f->fix, "lock") && strstr(f->fix, "GIL"));
    CHECK(found(&d, "host_function") == NULL);
    done(&d);
}

TEST(lock_wait_near_miss_a_thread_of_torch)
{
    struct diagnosis d;
    diagnose(&d, taking_turns(2000, false));
    CHECK(found(&d, "lock_wait") == NULL);
    done(&d);
}

/* ---- thread_readback ---- */

/* Ten steps of a kernel of 500 us, launched every 1000 us, whose result thread 2 copies. With
 * `ahead` the loop launches another kernel before the copy is made; with `said` its library says
 * that it waits. */
static struct trace *read_by_another(int64_t bytes, bool ahead, bool said)
{
    struct kit k = kit_begin();
    k.bytes = bytes;
    for (int s = 0; s < 10; s++) {
        double at = s * 1000;
        k.tid = 1;
        kit_launch(&k, at, "gemm", at + 10, 500);
        kit_label(&k, "step", at, 990);
        if (said) kit_python(&k, "train.py(7): main", at + 15, 960);
        if (said) kit_call(&k, "jax.Array.__float__", at + 20, 950);
        if (ahead) kit_launch(&k, at + 600, "gemm", at + 610, 300);
        k.tid = 2;
        kit_call(&k, "cudaMemcpyAsync", at + 540, 10);
        kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", at + (ahead ? 920 : 555), 2);
    }
    return kit_end(&k);
}

TEST(thread_readback_in_every_step)
{
    struct diagnosis d;
    diagnose(&d, read_by_another(4, false, false));
    const struct finding *f = found(&d, "thread_readback");
    REQUIRE(f != NULL);
    CHECK(strstr(f->title, "waits for the GPU") != NULL);
    CHECK_NEAR(f->alone.gain_pct, 49, 4); /* the GPU has work for 500 us of 1000 */
    done(&d);
}

TEST(thread_readback_that_the_library_reports)
{
    struct diagnosis d;
    diagnose(&d, read_by_another(4, false, true));
    const struct finding *f = found(&d, "thread_readback");
    REQUIRE(f != NULL);
    CHECK(found(&d, "sync_in_loop") == NULL);
    CHECK_NEAR(f->alone.gain_pct, 49, 4);
    CHECK_EQ_STR(f->subject, "main");
    CHECK_NEAR((double)f->blocked_ns, 9500e3, 1e3);
    REQUIRE(CHECK_EQ_UINT(syncs_of(&d.cx)->n_sites, 1));
    CHECK_EQ_INT(syncs_of(&d.cx)->sites[0].kind, WAIT_READBACK);
    CHECK_EQ_UINT(syncs_of(&d.cx)->sites[0].n_rows, 10);
    done(&d);
}

TEST(thread_readback_near_miss_results_or_launches_ahead)
{
    for (int i = 0; i < 2; i++) {
        struct diagnosis d;
        diagnose(&d, i ? read_by_another(4, true, false) : read_by_another(1 << 20, false, false));
        if (!CHECK(found(&d, "thread_readback") == NULL)) fprintf(stderr, "case %d\n", i);
        done(&d);
    }
}

/* ---- held_clock ---- */

/* Two seconds of work, with readings of the clock every 200 ms; as a file, since readings are args
 * of rows. `apart`: each reading on a lane of its own. */
static struct trace *clocked(int mhz, int limits, int work_ms, bool apart)
{
    FILE *f = fopen(scratch("clocks.json"), "w");
    struct trace *t = NULL;
    if (!CHECK(f != NULL)) return NULL;
    fprintf(f, "{\"traceEvents\": [");
    for (int i = 0; i < 10; i++) {
        fprintf(f,
                "%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
                "\"tid\":9,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},"
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%d,"
                "\"dur\":%d,\"args\":{\"correlation\":%d,\"device\":0,\"stream\":7}}",
                i ? "," : "", i * 200000, i + 1, i * 200000 + 10, work_ms * 1000, i + 1);
        const struct {
            const char *name;
            int value;
        } readings[] = {
            {"SM clock (MHz)", mhz}, {"highest SM clock (MHz)", 1980}, {"clock limits", limits}};
        for (int k = 0; k < 3; k++)
            fprintf(f,
                    ",{\"ph\":\"C\",\"name\":\"GPU 0 %s\",\"pid\":9,\"tid\":%d,\"ts\":%d,"
                    "\"args\":{\"value\":%d}}",
                    readings[k].name, apart ? k : 0, i * 200000 + 195000 + k, readings[k].value);
    }
    fprintf(f, "]}");
    fclose(f);
    CHECK_EQ_INT(import_open(scratch("clocks.json"), NULL, &t, NULL), 0);
    return t;
}

TEST(held_clock_by_heat_and_by_power)
{
    static const struct {
        int limits;
        enum severity severity;
        const char *words, *fix;
    } all[] = {{0x4, SEVERITY_LOW, "the power cap", "nvidia-smi -pl"},
               {0x40, SEVERITY_MEDIUM, "heat", "Cool it"}};
    for (int i = 0; i < 2; i++) {
        struct diagnosis d;
        diagnose(&d, clocked(1395, all[i].limits, 190, i == 1));
        const struct finding *f = found(&d, "held_clock");
        REQUIRE(f != NULL);
        CHECK(strstr(f->why, "1395 of 1980 MHz") && strstr(f->why, all[i].words));
        CHECK_EQ_INT(f->severity, all[i].severity);
        CHECK(f->fix && strstr(f->fix, all[i].fix));
        CHECK(f->advice && f->n_edits == 0);
        done(&d);
    }
}

TEST(held_clock_near_miss_fast_without_reason_or_at_rest)
{
    static const struct {
        int mhz, limits, work_ms;
    } all[] = {{1965, 0x4, 190}, {1395, 0, 190}, {1395, 0x4, 20}};
    for (int i = 0; i < 3; i++) {
        struct diagnosis d;
        diagnose(&d, clocked(all[i].mhz, all[i].limits, all[i].work_ms, false));
        if (!CHECK(found(&d, "held_clock") == NULL)) fprintf(stderr, "case %d\n", i);
        done(&d);
    }
}

/* ---- names ---- */

TEST(causes_by_name)
{
    static const struct {
        const char *name;
        enum host_cause cause;
    } all[] = {
        {HERE, HOST_DATA_HERE},
        {WORKERS, HOST_DATA_WORKERS},
        {"enumerate(DataLoader)#_Other.__next__", HOST_DATA},
        {"/v/site-packages/torch/utils/data/dataloader.py(7): __next__", HOST_DATA_CALL},
        {"my/dataloader.py(7): __next__", HOST_OTHER},
        {"/v/site-packages/torch/utils/data/dataloader.py(7): __init__", HOST_OTHER},
        {"Python GC", HOST_GC},
        {"Python GC (generation 0)", HOST_GC},
        {"Python GC (gc.collect)", HOST_GC_ASKED},
        {"dynamo", HOST_COMPILE},
        {"dynamo_timed", HOST_OTHER},
        {"TorchDynamo compile: f 0/1", HOST_COMPILE},
        {"TorchDynamo Cache Lookup", HOST_OTHER},
        {"", HOST_OTHER},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!CHECK_EQ_INT(host_cause_of(str_c(all[i].name)), all[i].cause))
            fprintf(stderr, "%s\n", all[i].name);
}

/* ---- ways around a wait ---- */

/* Steps with an operator that reads a size back, below `inner` if that is not NULL. */
static struct trace *reads_of(const char *outer, const char *inner)
{
    struct kit k = kit_begin();
    double us = 0;
    for (int i = 0; i < 12; i++) {
        kit_label(&k, "step", us, 118);
        for (int n = 0; n < 4; n++) kit_launch(&k, us + 2 + 8 * n, "gemm", us + 10 + 8 * n, 6);
        kit_op(&k, outer, us + 40, 40);
        if (inner) kit_op(&k, inner, us + 41, 38);
        k.bytes = 4;
        kit_call(&k, "cudaMemcpyAsync", us + 44, 5);
        kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", us + 60, 1);
        kit_call(&k, "cudaStreamSynchronize", us + 50, 14);
        kit_launch(&k, us + 90, "gemm", us + 98, 10);
        us += 120;
    }
    return kit_end(&k);
}

TEST(waits_for_a_size_name_the_way_around_them)
{
    static const char *const cases[][3] = {
        {"aten::index_put_", "aten::nonzero", "torch.where(mask"},
        {"aten::index", "aten::nonzero", "nonzero_static"},
        {"aten::masked_select", NULL, "nonzero_static"},
        {"aten::repeat_interleave", "aten::item", "output_size"},
        {"aten::index", "aten::item", "Keep the value on the GPU"},
        {"aten::item", NULL, "Keep the value on the GPU"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis d;
        diagnose(&d, reads_of(cases[i][0], cases[i][1]));
        const struct finding *f = found(&d, "sync_in_loop");
        if (CHECK(f != NULL) && !CHECK(strstr(f->fix, cases[i][2]) != NULL))
            fprintf(stderr, "%s: %s\n", cases[i][0], f->fix);
        done(&d);
    }
}

TEST_MAIN
