/* test_stages.c: what stages cost, by path, over threads, through graphs and autograd. */
#include "analyze/stages/stages.h"

#include "kit.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct stages s;
};

static struct found measure_all(struct kit *k, bool all)
{
    struct found f = {.t = kit_end(k)};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    f.cx.all_stages = all;
    if (f.t && CHECK_EQ_INT(context_need(&f.cx, &stages_pass, NULL), 0)) f.s = *stages_of(&f.cx);
    return f;
}

static struct found measure(struct kit *k)
{
    return measure_all(k, false);
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

static const struct stage *at(const struct found *f, const char *path)
{
    static const struct stage none;
    for (uint32_t i = 0; i < f->s.n; i++)
        if (strcmp(f->s.list[i].path, path) == 0) return &f->s.list[i];
    test_fail(__FILE__, __LINE__, "there is no stage %s", path);
    return &none;
}

static bool has(const struct found *f, const char *path)
{
    for (uint32_t i = 0; i < f->s.n; i++)
        if (strcmp(f->s.list[i].path, path) == 0) return true;
    return false;
}

/* Two steps of a pipeline; the device lags behind the CPU. */
static struct kit pipeline(void)
{
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, 3000);
    for (int i = 0; i < 2; i++) {
        double us = 500 + 1000 * i;
        kit_label(&k, "forward", us, 300 + 100 * i);
        kit_launch(&k, us + 10, "gemm", us + 400, 200);
        kit_launch(&k, us + 20, "gemm", us + 650, 200);
        kit_label(&k, "scheduler_step", us + 500, 100);
        kit_launch(&k, us + 510, "add", us + 860, 10);
        kit_call(&k, "cudaStreamSynchronize", us + 530, 60);
    }
    return k;
}

TEST(gpu_time_is_of_what_was_launched_inside)
{
    struct kit k = pipeline();
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 3);
    const struct stage *s = at(&f, "pipeline_call/forward");
    CHECK_EQ_UINT(s->calls, 2);
    CHECK_EQ_INT(s->cpu_ns, 700000);
    CHECK_EQ_INT(s->gpu.sum_ns, 800000);
    CHECK_EQ_INT(s->gpu.union_ns, 800000);
    CHECK_EQ_INT(s->gpu.span_ns, 2 * 450000);
    CHECK_EQ_INT(s->gpu.idle_ns, 2 * 50000);
    CHECK_EQ_UINT(s->gpu.kernels, 4);
    CHECK_EQ_UINT(s->syncs, 0);
    CHECK_EQ_INT(s->first_ns, 300000);
    CHECK_EQ_INT(s->median_ns, 350000);
    CHECK_EQ_INT(s->p95_ns, 400000);
    CHECK_EQ_INT(s->gpu_median_ns, 400000);
    CHECK_EQ_INT(s->peak_bytes, -1);
    s = at(&f, "pipeline_call/scheduler_step");
    CHECK_EQ_UINT(s->syncs, 2);
    CHECK_EQ_INT(s->blocked_ns, 120000);
    CHECK_EQ_UINT(s->launches, 2);
    s = at(&f, "pipeline_call");
    CHECK_EQ_INT(s->cpu_ns, 3000000);
    CHECK_EQ_INT(s->self_cpu_ns, 3000000 - 700000 - 200000);
    CHECK_EQ_INT(s->gpu.sum_ns, 820000);
    CHECK_EQ_INT(s->self_gpu_ns, 0);
    CHECK(s->container);
    done(&f);
}

TEST(shares_are_of_the_steps)
{
    struct kit k = pipeline();
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 2));
    CHECK_EQ_INT(f.s.steps_cpu_ns, 1000000 + 600000);
    CHECK_EQ_INT(f.s.steps_gpu_ns, 820000);
    CHECK_EQ_INT(at(&f, "pipeline_call/forward")->step_cpu_ns, 700000);
    CHECK_EQ_INT(at(&f, "pipeline_call")->step_cpu_ns, 0);
    done(&f);
}

TEST(idle_meanwhile_of_stages_adds_up)
{
    struct kit k = pipeline();
    struct found f = measure(&k);
    const struct device_line *d = &timeline_of(&f.cx)->devices[0];
    const struct stage *call = at(&f, "pipeline_call");
    int64_t inside = at(&f, "pipeline_call/forward")->idle_meanwhile_ns +
                     at(&f, "pipeline_call/scheduler_step")->idle_meanwhile_ns +
                     call->self_idle_meanwhile_ns;
    CHECK_EQ_INT(call->idle_meanwhile_ns, inside);
    CHECK_EQ_INT(call->idle_meanwhile_ns,
                 timeline_idle_ns(d, d->extent.begin_ns, d->extent.end_ns));
    CHECK_EQ_INT(f.s.between.idle_meanwhile_ns, call->self_idle_meanwhile_ns);
    done(&f);
}

TEST(the_same_name_in_two_places_is_two_stages)
{
    struct kit k = kit_begin();
    kit_label(&k, "encode", 0, 100);
    kit_label(&k, "attention", 10, 50);
    kit_label(&k, "decode", 200, 100);
    kit_label(&k, "attention", 210, 70);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 4);
    CHECK_EQ_INT(at(&f, "encode/attention")->cpu_ns, 50000);
    CHECK_EQ_INT(at(&f, "decode/attention")->cpu_ns, 70000);
    done(&f);
}

TEST(recursion_is_not_counted_twice)
{
    struct kit k = kit_begin();
    kit_label(&k, "tree", 0, 100);
    kit_label(&k, "tree", 10, 80);
    kit_label(&k, "tree", 20, 50);
    kit_launch(&k, 30, "leaf", 40, 10);
    struct found f = measure(&k);
    CHECK_EQ_INT(at(&f, "tree")->cpu_ns, 100000);
    CHECK_EQ_INT(at(&f, "tree")->self_cpu_ns, 20000);
    CHECK_EQ_INT(at(&f, "tree")->gpu.sum_ns, 10000);
    CHECK_EQ_INT(at(&f, "tree/tree")->cpu_ns, 80000);
    CHECK_EQ_INT(at(&f, "tree/tree/tree")->gpu.sum_ns, 10000);
    done(&f);
}

TEST(endless_nesting_stops_somewhere)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 40; i++) kit_label(&k, "deeper", i, 100 - 2 * i);
    kit_launch(&k, 45, "leaf", 60, 10);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 16);
    CHECK_EQ_UINT(f.s.tree.n_overflowing, 24);
    CHECK_EQ_INT(f.s.list[15].gpu.sum_ns, 10000);
    done(&f);
}

TEST(a_flood_of_names_stops_somewhere)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "request %c%d", 'a' + i % 26, i);
        kit_label(&k, name, i * 10, 5);
    }
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 4096);
    CHECK_EQ_UINT(f.s.tree.n_overflowing, 5000 - 4096);
    done(&f);
}

TEST(calls_on_several_threads_are_one_stage)
{
    struct kit k = kit_begin();
    for (k.tid = 1; k.tid <= 3; k.tid++) {
        kit_label(&k, "worker", 0, 100);
        kit_launch(&k, 10 + k.tid, "gemm", 20, 50); /* all three at the same time */
        k.stream++;
    }
    struct found f = measure(&k);
    const struct stage *s = at(&f, "worker");
    CHECK_EQ_UINT(s->calls, 3);
    CHECK_EQ_INT(s->cpu_ns, 300000);
    CHECK_EQ_INT(s->gpu.sum_ns, 150000);
    CHECK_EQ_INT(s->gpu.union_ns, 50000);
    done(&f);
}

TEST(profiler_steps_and_compiled_regions_are_looked_through)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i);
        kit_label(&k, name, i * 100, 95);
        kit_label(&k, "forward", i * 100 + 5, 80);
        kit_label(&k, "## Call CompiledFxGraph fabc ##", i * 100 + 10, 60);
        kit_launch(&k, i * 100 + 20, "triton_poi_fused_0", i * 100 + 30, 10);
    }
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n, 1));
    CHECK_EQ_INT(at(&f, "forward")->self_gpu_ns, 30000);
    CHECK(!at(&f, "forward")->container);
    done(&f);
}

TEST(compiled_regions_when_asked_for)
{
    struct kit k = kit_begin();
    kit_label(&k, "forward", 5, 80);
    kit_label(&k, "## Call CompiledFxGraph fabc ##", 10, 60);
    kit_launch(&k, 20, "triton_poi_fused_0", 30, 10);
    struct found f = measure_all(&k, true);
    const struct stage *s = at(&f, "forward/## Call CompiledFxGraph fabc ##");
    CHECK_EQ_INT(s->gpu.sum_ns, 10000);
    CHECK(!s->user);
    CHECK_EQ_INT(at(&f, "forward")->self_gpu_ns, 0);
    done(&f);
}

TEST(graph_launches_bring_all_their_kernels)
{
    struct kit k = kit_begin();
    kit_label(&k, "decode", 0, 100);
    kit_call(&k, "cudaGraphLaunch", 10, 20);
    for (int i = 0; i < 50; i++) kit_work(&k, KIND_KERNEL, "node", 40 + i * 10, 9);
    struct found f = measure(&k);
    const struct stage *s = at(&f, "decode");
    CHECK_EQ_UINT(s->gpu.kernels, 50);
    CHECK_EQ_UINT(s->launches, 1);
    CHECK_EQ_UINT(s->graph_launches, 1);
    CHECK_EQ_INT(s->gpu.sum_ns, 450000);
    CHECK_EQ_INT(s->gpu.span_ns, 499000);
    CHECK_EQ_INT(s->gpu.idle_ns, 49000);
    done(&f);
}

/* Forward on thread 1, backward launched by thread 2 between 500 and 600. */
static struct kit training(const char *backward_label)
{
    struct kit k = kit_begin();
    kit_label(&k, "train", 0, 1000);
    kit_label(&k, "encoder", 10, 100);
    kit_autograd_op(&k, "aten::linear", 20, 50, 0, 0);
    kit_launch(&k, 30, "gemm", 40, 10);
    kit_label(&k, "head", 150, 100);
    kit_autograd_op(&k, "aten::mse", 160, 50, 8, 0);
    kit_launch(&k, 170, "mse", 180, 10);
    if (backward_label) kit_label(&k, backward_label, 480, 200);
    k.tid = 2;
    kit_autograd_op(&k, "MseBackward0", 500, 40, 8, 1);
    kit_launch(&k, 510, "mse_backward", 520, 15);
    kit_autograd_op(&k, "LinearBackward0", 550, 40, 0, 1);
    kit_launch(&k, 560, "gemm_backward", 570, 20);
    kit_launch(&k, 800, "copy of a loader", 810, 5); /* no backward op around it */
    return k;
}

TEST(backward_goes_to_the_label_that_is_open)
{
    struct kit k = training("backward");
    struct found f = measure(&k);
    CHECK_EQ_INT(at(&f, "train/backward")->gpu.sum_ns, 35000);
    CHECK_EQ_INT(at(&f, "train/encoder")->gpu.sum_ns, 10000);
    CHECK_EQ_INT(at(&f, "train")->gpu.sum_ns, 55000);
    CHECK_EQ_UINT(f.s.n, 4);
    done(&f);
}

/* A trace without sequence numbers: the one thread that waits has the label. */
TEST(backward_without_numbers_goes_to_the_label_that_is_open)
{
    struct kit k = kit_begin();
    kit_label(&k, "attn(F)", 0, 100);
    kit_launch(&k, 10, "gemm", 20, 10);
    kit_label(&k, "attn(B)", 200, 300);
    k.tid = 2;
    kit_op(&k, "LinearBackward0", 210, 100);
    kit_launch(&k, 220, "gemm_backward", 230, 40);
    kit_launch(&k, 400, "copy of a loader", 410, 5); /* near miss: no backward op around it */
    struct found f = measure(&k);
    CHECK_EQ_INT(at(&f, "attn(B)")->gpu.sum_ns, 40000);
    CHECK_EQ_INT(at(&f, "attn(F)")->gpu.sum_ns, 10000);
    done(&f);
}

/* Near miss: two threads have labels open, so who called backward() is not known. */
TEST(backward_without_numbers_needs_one_caller)
{
    struct kit k = kit_begin();
    kit_label(&k, "train", 0, 500);
    k.tid = 3;
    kit_label(&k, "loader", 0, 500);
    k.tid = 2;
    kit_op(&k, "LinearBackward0", 210, 100);
    kit_launch(&k, 220, "gemm_backward", 230, 40);
    struct found f = measure(&k);
    CHECK_EQ_INT(at(&f, "train")->gpu.sum_ns, 0);
    CHECK_EQ_INT(at(&f, "loader")->gpu.sum_ns, 0);
    done(&f);
}

TEST(unlabelled_backward_goes_beside_its_forward)
{
    struct kit k = training(NULL);
    struct found f = measure(&k);
    CHECK_EQ_INT(at(&f, "train/encoder")->gpu.sum_ns, 10000);
    const struct stage *s = at(&f, "train/encoder (backward)");
    CHECK_EQ_INT(s->gpu.sum_ns, 20000);
    CHECK_EQ_INT(s->cpu_ns, 0);
    CHECK(s->backward);
    CHECK_EQ_INT(at(&f, "train/head (backward)")->gpu.sum_ns, 15000);
    CHECK_EQ_INT(at(&f, "train")->gpu.sum_ns, 55000);
    CHECK_EQ_INT(at(&f, "train")->self_cpu_ns, 800000);
    CHECK(!has(&f, "train (backward)"));
    done(&f);
}

TEST(between_stages_with_the_functions_it_is_spent_in)
{
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, 1000);
    kit_label(&k, "forward", 100, 300);
    kit_python(&k, "inside.py(1): hidden", 110, 200);
    kit_python(&k, "hooks.py(268): _set_context", 400, 200);
    kit_python(&k, "module.py(9): named_modules", 420, 150);
    kit_label(&k, "step", 700, 200);
    kit_call(&k, "cudaStreamSynchronize", 920, 50);
    kit_launch(&k, 975, "glue", 990, 5);
    struct found f = measure(&k);
    const struct between *b = &f.s.between;
    CHECK(at(&f, "pipeline_call")->container);
    CHECK_EQ_INT(b->cpu_ns, 500000);
    CHECK_EQ_UINT(b->syncs, 1);
    CHECK_EQ_INT(b->blocked_ns, 50000);
    CHECK_EQ_UINT(b->gpu.kernels, 1);
    REQUIRE(CHECK_EQ_UINT(b->n_top, 4));
    CHECK_EQ_BYTES(trace_str(f.t, b->top[0].name), "module.py(9): named_modules");
    CHECK_EQ_INT(b->top[0].self_ns, 150000);
    CHECK_EQ_BYTES(trace_str(f.t, b->top[1].name), "hooks.py(268): _set_context");
    CHECK_EQ_INT(b->top[1].self_ns, 50000);
    CHECK_EQ_INT(b->untraced_ns, 500000 - 200000 - 50000 - 5000);
    done(&f);
}

/* The time of strata's wrappers is that of the function they stand in. */
TEST(the_recorder_is_no_function_between_stages)
{
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, 1000);
    kit_python(&k, "pipe.py(6): __call__", 10, 980);
    kit_python(&k, "build/python/strata/_stage.py(48): wrapper", 90, 800);
    kit_label(&k, "forward", 100, 400);
    kit_label(&k, "step", 700, 100);
    kit_python(&k, "strata_tools/_x.py(1): mine", 920, 40);
    struct found f = measure(&k);
    const struct between *b = &f.s.between;
    REQUIRE(CHECK_EQ_UINT(b->n_top, 2));
    CHECK_EQ_BYTES(trace_str(f.t, b->top[0].name), "pipe.py(6): __call__");
    CHECK_EQ_INT(b->top[0].self_ns, (980 - 40 - 500) * 1000);
    CHECK_EQ_UINT(b->top[0].calls, 1);
    CHECK_EQ_BYTES(trace_str(f.t, b->top[1].name), "strata_tools/_x.py(1): mine");
    done(&f);
}

TEST(between_outermost_stages)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::before", 0, 50); /* before the first stage: not between */
    kit_label(&k, "encode", 100, 100);
    kit_op(&k, "aten::glue", 250, 30);
    kit_label(&k, "decode", 300, 100);
    kit_op(&k, "aten::after", 450, 30);
    struct found f = measure(&k);
    CHECK_EQ_INT(f.s.between.cpu_ns, 100000);
    REQUIRE(CHECK_EQ_UINT(f.s.between.n_top, 1));
    CHECK_EQ_INT(f.s.between.top[0].self_ns, 30000);
    CHECK_EQ_INT(f.s.between.untraced_ns, 70000);
    done(&f);
}

TEST(a_stage_with_helpers_inside_is_no_container)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        kit_label(&k, "transformer_forward", i * 1000, 900);
        for (int m = 0; m < 20; m++) kit_label(&k, "load_module", i * 1000 + m * 40, 30);
    }
    struct found f = measure(&k);
    CHECK(!at(&f, "transformer_forward")->container);
    CHECK_EQ_INT(f.s.between.cpu_ns, 300000);
    done(&f);
}

TEST(peaks_and_allocations)
{
    struct kit k = kit_begin();
    kit_label(&k, "load", 0, 100);
    kit_memory(&k, 50, 1000, 1000, 4000);
    kit_label(&k, "forward", 200, 100);
    kit_memory(&k, 210, 700, 1700, 4000);
    kit_memory(&k, 280, -700, 1000, 4000);
    kit_call(&k, "cudaMalloc", 285, 5);
    kit_label(&k, "idle", 400, 100); /* allocates nothing, but memory is in use */
    k.device = -1;
    kit_memory(&k, 220, 99999, 99999, 99999); /* the CPU's memory is another matter */
    struct found f = measure(&k);
    CHECK_EQ_INT(at(&f, "load")->peak_bytes, 1000);
    CHECK_EQ_INT(at(&f, "forward")->peak_bytes, 1700);
    CHECK_EQ_INT(at(&f, "idle")->peak_bytes, 1000);
    CHECK_EQ_UINT(at(&f, "forward")->allocations, 1);
    CHECK_EQ_INT(at(&f, "forward")->alloc_bytes, 700);
    CHECK_EQ_UINT(at(&f, "forward")->device_allocs, 1);
    done(&f);
}

TEST(no_labels_no_stages)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 10);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 0);
    CHECK_EQ_INT(f.s.between.cpu_ns, 0);
    done(&f);
}

static int run_stages(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &stages_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

/* A Python row begins inside the first forward and goes on past its end, even past that of the
 * pipeline: what starts in it is still where its own time lies. */
TEST(stages_nest_by_their_own_times_whatever_crosses_them)
{
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, 3000);
    kit_label(&k, "forward", 100, 900);
    kit_python(&k, "x.py(1): f", 500, 9000);
    kit_launch(&k, 600, "gemm", 700, 100);
    kit_label(&k, "forward", 1200, 800);
    kit_launch(&k, 1300, "gemm", 1400, 100);
    kit_label(&k, "scheduler_step", 2100, 100);
    kit_launch(&k, 3100, "add", 3200, 10);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 3);
    CHECK_EQ_UINT(at(&f, "pipeline_call/forward")->calls, 2);
    CHECK_EQ_UINT(at(&f, "pipeline_call/forward")->gpu.kernels, 2);
    CHECK_EQ_UINT(at(&f, "pipeline_call/scheduler_step")->calls, 1);
    CHECK_EQ_UINT(at(&f, "pipeline_call")->gpu.kernels, 2);
    CHECK_EQ_UINT(stage_tree_at(&f.s.tree, 0, 550 * 1000), 1);
    CHECK_EQ_UINT(stage_tree_at(&f.s.tree, 0, 3500 * 1000), STAGE_NONE);
    done(&f);
}

/* A stage that starts inside another and outlives it: more than half inside belongs to it. */
TEST(stages_that_cross_each_other)
{
    struct kit k = kit_begin();
    kit_label(&k, "a", 0, 1000);
    kit_label(&k, "b", 600, 600);
    kit_label(&k, "c", 1100, 50);
    kit_label(&k, "d", 1150, 500);
    kit_label(&k, "e", 1250, 100);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 5);
    CHECK(has(&f, "a/b/c") && has(&f, "d/e"));
    done(&f);
}

/* "b" of "a" is seen only after another outermost stage. */
TEST(stages_follow_the_one_they_lie_in)
{
    struct kit k = kit_begin();
    kit_label(&k, "a", 0, 100);
    kit_label(&k, "z", 10, 10);
    kit_label(&k, "b", 200, 50);
    kit_label(&k, "a", 300, 100);
    kit_label(&k, "b", 310, 20);
    kit_label(&k, "c", 312, 5);
    kit_label(&k, "z", 340, 10);
    kit_label(&k, "c", 342, 5);
    struct found f = measure(&k);
    static const char *const paths[] = {"a", "a/z", "a/z/c", "a/b", "a/b/c", "b"};
    CHECK_EQ_UINT(f.s.n, 6);
    for (uint32_t i = 0; i < f.s.n && i < 6; i++) CHECK_EQ_STR(f.s.list[i].path, paths[i]);
    CHECK_EQ_UINT(at(&f, "a/z")->calls, 2);
    CHECK_EQ_UINT(at(&f, "a/b/c")->parent, 3);
    done(&f);
}

/* The first calls of stages come in another order than the stages are listed in. */
TEST(a_stage_knows_the_one_it_lies_in_wherever_that_is_listed)
{
    struct kit k = kit_begin();
    kit_label(&k, "a", 0, 100);
    kit_label(&k, "b", 200, 100);
    kit_label(&k, "a", 400, 100);
    kit_label(&k, "in a", 410, 50);
    kit_label(&k, "b", 600, 100);
    kit_label(&k, "in b", 610, 50);
    struct found f = measure(&k);
    static const char *const paths[] = {"a", "a/in a", "b", "b/in b"};
    REQUIRE(CHECK_EQ_UINT(f.s.n, 4));
    for (uint32_t i = 0; i < 4; i++) CHECK_EQ_STR(f.s.list[i].path, paths[i]);
    CHECK_EQ_UINT(f.s.list[1].parent, 0);
    CHECK_EQ_UINT(f.s.list[3].parent, 2);
    CHECK_EQ_INT(f.s.list[0].cpu_ns, kit_ns(200));
    CHECK_EQ_INT(f.s.list[2].cpu_ns, kit_ns(200));
    done(&f);
}

TEST(out_of_memory_is_reported)
{
    struct kit k = training(NULL);
    kit_memory(&k, 600, 700, 1700, 4000);
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EVERY_ALLOC(run_stages, t);
    trace_free(t);
}

/* ---- stages that nobody labelled ---- */

/* A call of a network of `layers` blocks, with its Python functions. Returns when it ends. */
static double network(struct kit *k, double at, int layers)
{
    double dur = layers * 50 + 10;
    kit_python(k, "nn.Module: Net_0", at, dur);
    kit_python(k, "torch/nn/modules/module.py(1783): _call_impl", at + 1, dur - 2);
    kit_python(k, "lib/decorators.py(3): wrapper", at + 1.5, dur - 3);
    kit_python(k, "net.py(10): forward", at + 2, dur - 4);
    for (int i = 0; i < layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "nn.Module: Block_%d", i);
        kit_python(k, name, at + 5 + i * 50, 45);
        kit_op(k, "aten::linear", at + 10 + i * 50, 30);
        kit_launch(k, at + 15 + i * 50, "gemm", at + 25 + i * 50, 10);
    }
    return at + dur;
}

/* Calls of generate(), tokens in them; `label` around everything when there is one. */
static struct kit generator(const char *label)
{
    struct kit k = kit_begin();
    kit_python(&k, "main.py(1): <module>", 0, 10000);
    if (label) kit_label(&k, label, 5, 9000);
    double at = 10;
    for (int call = 0; call < 3; call++) {
        double end = at + 3 * 450 + 20;
        kit_python(&k, "lib/generation.py(7): generate", at, end - at);
        kit_python(&k, "lib/generation.py(90): _sample", at + 1, end - at - 2);
        at += 5;
        for (int i = 0; i < 3; i++, at += 450) {
            double next = network(&k, at, 8);
            kit_op(&k, "aten::argmax", next + 5, 10);
            kit_launch(&k, next + 8, "argmax", next + 10, 2);
        }
        at = end + 10;
    }
    return k;
}

TEST(calls_of_modules_and_functions_are_stages)
{
    struct kit k = generator(NULL);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 4);
    const struct stage *s = at(&f, "generate/step/Net/Block");
    CHECK_EQ_UINT(s->calls, 72);
    CHECK(s->derived && !s->user && !s->container);
    CHECK_EQ_STR(origin_name(s->from), "modules");
    CHECK_EQ_UINT(s->gpu.kernels, 72);
    CHECK_EQ_UINT(at(&f, "generate")->calls, 3);
    CHECK_EQ_STR(origin_name(at(&f, "generate")->from), "functions");
    CHECK_EQ_UINT(at(&f, "generate/step")->calls, 9);
    CHECK_EQ_UINT(at(&f, "generate/step")->gpu.kernels, 81);
    CHECK_EQ_UINT(at(&f, "generate/step/Net")->gpu.kernels, 72);
    done(&f);
}

/* A function that only calls another is not a stage of its own, whatever it does beside that. */
TEST(a_function_around_another_gives_way_to_it)
{
    struct kit k = kit_begin();
    kit_python(&k, "main.py(1): <module>", 0, 10000);
    for (int i = 0; i < 3; i++) {
        double us = 100 + i * 3000;
        kit_python(&k, "lib/run.py(3): wrapper", us, 2000);
        kit_python(&k, "lib/run.py(9): solve", us + 1, 1930);
        kit_launch(&k, us + 100, "gemm", us + 110, 1500);
        kit_python(&k, "lib/run.py(20): summarize", us + 1935, 60);
        kit_launch(&k, us + 1940, "sum", us + 1950, 90);
    }
    struct found f = measure(&k);
    CHECK(f.s.n > 1);
    for (uint32_t i = 0; i < f.s.n; i++)
        if (!CHECK(strstr(f.s.list[i].path, "wrapper") == NULL)) puts(f.s.list[i].path);
    done(&f);
}

/* Where threads launch, functions of one that does not are no stages. */
TEST(functions_beside_the_program_are_no_stages)
{
    struct kit k = generator(NULL);
    k.tid = 2;
    for (int i = 0; i < 9; i++) kit_python(&k, "lib/loader.py(3): fetch", i * 1000, 950);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 4);
    CHECK(!has(&f, "fetch"));
    done(&f);
}

TEST(labels_of_the_user_win)
{
    struct kit k = generator("inference");
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 1);
    CHECK(at(&f, "inference")->user && !at(&f, "inference")->derived);
    done(&f);
}

TEST(a_label_that_holds_little_stands_inside_of_what_is_derived)
{
    struct kit k = generator(NULL);
    kit_label(&k, "my_block", 64, 47); /* around the second block of the first pass */
    struct found f = measure(&k);
    const struct stage *s = at(&f, "generate/step/Net/my_block");
    CHECK(s->user && !s->derived);
    CHECK_EQ_UINT(s->gpu.kernels, 1);
    CHECK(!has(&f, "generate/step/Net/my_block/Block"));
    CHECK_EQ_UINT(at(&f, "generate/step/Net/Block")->calls, 71);
    done(&f);
}

/* The first so many of ten calls of a network on a CPU are labelled. */
static struct found labelled_calls(int labelled, bool stacks)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 10; i++) {
        if (stacks) kit_python(&k, "nn.Module: Net_0", i * 100, 80);
        kit_op(&k, "aten::linear", i * 100 + 5, 60);
        kit_op(&k, "aten::addmm", i * 100 + 10, 50);
        kit_op(&k, "aten::relu", i * 100 + 66, 10);
    }
    kit_label(&k, "inference", 0, labelled * 100 - 5);
    return measure(&k);
}

/* Without a device the time of outermost operators counts, whatever is around them. */
TEST(a_label_that_holds_most_operators_wins_without_a_device)
{
    for (int stacks = 0; stacks < 2; stacks++) {
        struct found f = labelled_calls(9, stacks);
        CHECK_EQ_UINT(f.s.n, 1);
        CHECK(has(&f, "inference"));
        done(&f);
        f = labelled_calls(2, stacks);
        CHECK_EQ_UINT(f.s.n, 2);
        CHECK(has(&f, stacks ? "Net" : "step"));
        done(&f);
    }
}

static double block(struct kit *k, double at)
{
    static const char *const ops[] = {"aten::layer_norm", "aten::linear", "aten::gelu",
                                      "aten::linear", "aten::add"};
    for (int i = 0; i < 5; i++, at += 20) {
        kit_op(k, ops[i], at, 15);
        kit_launch(k, at + 5, "kernel", at + 12, 5);
    }
    return at;
}

TEST(steps_and_layers_from_nothing_but_launches)
{
    struct kit k = kit_begin();
    double us = 0;
    for (int call = 0; call < 6; call++) {
        kit_op(&k, "aten::embedding", us, 15);
        kit_launch(&k, us + 5, "embed", us + 12, 5);
        us += 20;
        for (int i = 0; i < 12; i++) us = block(&k, us);
    }
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 2);
    CHECK_EQ_UINT(at(&f, "step")->calls, 6);
    CHECK_EQ_UINT(at(&f, "step")->gpu.kernels, 366);
    CHECK_EQ_UINT(at(&f, "step/layer")->calls, 72);
    CHECK_EQ_UINT(at(&f, "step/layer")->gpu.kernels, 360);
    CHECK_EQ_STR(origin_name(at(&f, "step/layer")->from), "operator_sequence");
    CHECK_EQ_INT(at(&f, "step/layer")->median_ns, 95000);
    done(&f);
}

TEST(one_after_the_other_is_no_stage)
{
    struct kit k = kit_begin();
    static const char *const once[] = {"a", "b", "c", "d", "b", "e", "f", "a", "g", "h"};
    for (int i = 0; i < 10; i++) kit_launch(&k, i * 100, once[i], i * 100 + 10, 50);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 0);
    done(&f);
}

/* A step of training as torch.profiler sees it without stacks: the backward pass on its own thread.
 */
static double train(struct kit *k, double us, int64_t *sequence)
{
    kit_label(k, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", us, 90);
    kit_label(k, "Optimizer.zero_grad#AdamW.zero_grad", us + 100, 40);
    for (int i = 0; i < 4; i++) {
        kit_autograd_op(k, "aten::linear", us + 150 + i * 20, 15, *sequence + i, 0);
        kit_launch(k, us + 152 + i * 20, "gemm", us + 160 + i * 20, 5);
    }
    k->tid = 2;
    for (int i = 0; i < 4; i++) {
        kit_autograd_op(k, "autograd::engine::evaluate_function: AddmmBackward0", us + 300 + i * 20,
                        15, *sequence + 3 - i, 1);
        kit_launch(k, us + 302 + i * 20, "gemm", us + 310 + i * 20, 8);
    }
    k->tid = 1;
    *sequence += 4;
    kit_label(k, "Optimizer.step#AdamW.step", us + 400, 60);
    kit_launch(k, us + 410, "adam", us + 420, 20);
    return us + 500;
}

TEST(a_step_of_training_is_data_forward_backward_and_optimizer)
{
    struct kit k = kit_begin();
    int64_t sequence = 10;
    double us = 0;
    for (int i = 0; i < 5; i++) us = train(&k, us, &sequence);
    struct found f = measure(&k);
    CHECK_EQ_UINT(at(&f, "step")->calls, 5);
    CHECK_EQ_UINT(at(&f, "step")->gpu.kernels, 45);
    CHECK_EQ_UINT(at(&f, "step/forward")->gpu.kernels, 20);
    CHECK_EQ_UINT(at(&f, "step/backward")->gpu.kernels, 20);
    CHECK_EQ_STR(origin_name(at(&f, "step/backward")->from), "autograd");
    CHECK_EQ_INT(at(&f, "step/backward")->median_ns, 75000);
    CHECK_EQ_INT(at(&f, "step/forward")->median_ns, 75000);
    CHECK_EQ_UINT(at(&f, "step/Optimizer.step#AdamW.step")->gpu.kernels, 5);
    CHECK(!at(&f, "step/Optimizer.step#AdamW.step")->derived);
    CHECK(at(&f, "step/forward")->derived);
    CHECK(has(&f, "step/enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"));
    done(&f);
}

/* A range that our recorder made. */
static void kit_range(struct kit *k, const char *name, double us, double dur_us)
{
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    struct batch_row row = {.ts_ns = kit_ns(us),
                            .dur_ns = kit_ns(dur_us),
                            .name = intern_add(batch_strings(k->p), str_c(name)),
                            .kind = KIND_ANNOTATION,
                            .cat = batch_cat(k->p, str_c(CAT_DERIVED)),
                            .phase = 'X',
                            .pid = {100, 0},
                            .tid = {k->tid, 0},
                            .aux = &op};
    CHECK_EQ_INT(batch_add(k->p, &row), 0);
}

static struct kit recorded(const char *label)
{
    struct kit k = kit_begin();
    if (label) kit_label(&k, label, 0, 3000);
    for (int i = 0; i < 4; i++) {
        kit_range(&k, "UNet", 100 + i * 500, 400);
        for (int b = 0; b < 3; b++) {
            kit_range(&k, "DownBlock", 110 + i * 500 + b * 100, 90);
            kit_launch(&k, 120 + i * 500 + b * 100, "conv", 140 + i * 500 + b * 100, 30);
        }
    }
    return k;
}

TEST(ranges_of_our_recorder_are_derived)
{
    struct kit k = recorded(NULL);
    struct found f = measure(&k);
    CHECK_EQ_UINT(at(&f, "UNet")->calls, 4);
    CHECK(at(&f, "UNet")->derived);
    CHECK_EQ_STR(origin_name(at(&f, "UNet")->from), "modules");
    CHECK_EQ_UINT(at(&f, "UNet/DownBlock")->gpu.kernels, 12);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4);
    done(&f);

    k = recorded("pipeline_call");
    f = measure(&k);
    CHECK_EQ_UINT(f.s.n, 1);
    CHECK(has(&f, "pipeline_call"));
    done(&f);
}

TEST(compiled_regions_are_stages_where_nothing_else_is)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        double us = i * 200;
        kit_op(&k, "Torch-Compiled Region: 0/0", us, 90);
        for (int n = 0; n < 3; n++) kit_launch(&k, us + 5 + n * 20, "fused", us + 10 + n * 20, 15);
        kit_launch(&k, us + 100, "euler", us + 105, 2);
    }
    struct found f = measure(&k);
    CHECK_EQ_UINT(at(&f, "step")->calls, 4);
    CHECK_EQ_UINT(at(&f, "step/Torch-Compiled Region: 0/0")->gpu.kernels, 12);
    done(&f);
}

static uint32_t n_matching(const struct found *f, const char *pattern)
{
    struct arena mem;
    struct stage_matches m;
    arena_init(&mem);
    CHECK_EQ_INT(stage_match_derived(&f->cx, pattern, &mem, &m, NULL), 0);
    arena_done(&mem);
    return m.n;
}

TEST(derived_stages_are_found_by_name)
{
    struct kit k = generator(NULL);
    struct found f = measure(&k);
    CHECK_EQ_UINT(n_matching(&f, "^step$"), 9);
    CHECK_EQ_UINT(n_matching(&f, "Block"), 72);
    CHECK_EQ_UINT(n_matching(&f, "Net|Block"), 9); /* the outermost of them */
    CHECK_EQ_UINT(n_matching(&f, "generate/step$"), 9);
    CHECK_EQ_UINT(n_matching(&f, "nothing"), 0);
    struct arena mem;
    struct stage_matches m;
    struct err e = {0};
    arena_init(&mem);
    CHECK_EQ_INT(stage_match_derived(&f.cx, "(", &mem, &m, &e), ERR_USAGE);
    arena_done(&mem);
    done(&f);

    k = generator("step");
    f = measure(&k);
    CHECK_EQ_UINT(n_matching(&f, "step"), 0); /* the user's own is meant, and is a row */
    done(&f);
}

static int derive_once(void *ctx)
{
    struct trace *t = ctx;
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, t, &mem);
    int rc = context_need(&cx, &stages_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(deriving_survives_every_failed_allocation)
{
    struct kit k = generator(NULL);
    struct trace *t = kit_end(&k);
    CHECK_EVERY_ALLOC(derive_once, t);
    trace_free(t);
}

/* Eight threads that answer requests of 20 ms, one after the other, and wait in between. */
TEST(threads_that_wait_are_not_between_stages)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 64; i++) {
        k.tid = 1 + i % 8;
        kit_label(&k, "request", i * 30000, 20000);
    }
    struct trace *t = kit_end(&k);
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, t, &mem);
    REQUIRE(CHECK_EQ_INT(context_need(&cx, &stages_pass, NULL), 0));
    CHECK_EQ_INT(stages_of(&cx)->between.cpu_ns, kit_ns(63 * 10000));
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

TEST_MAIN
