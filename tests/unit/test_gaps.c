/* test_gaps.c: idle time taken apart. Times in microseconds. */
#include "analyze/gaps/gaps.h"

#include "kit.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct syncs syncs;
    struct gaps gaps;
};

static int run_passes(struct found *f, double min_us)
{
    f->cx.th.value[TH_GAP_US] = min_us;
    TRY(context_need(&f->cx, &gaps_pass, NULL));
    f->syncs = *syncs_of(&f->cx);
    f->gaps = *gaps_of(&f->cx);
    return 0;
}

static struct found run(struct kit *k, double min_us)
{
    struct found f = {.t = kit_end(k)};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    if (f.t) CHECK_EQ_INT(run_passes(&f, min_us), 0);
    return f;
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

static const struct gap_cause *cause(const struct found *f, enum gap_cause_kind kind,
                                     const char *name)
{
    for (uint32_t i = 0; i < f->gaps.n_causes; i++) {
        const struct gap_cause *c = &f->gaps.causes[i];
        if (c->kind == kind && str_is(c->name, name)) return c;
    }
    return NULL;
}

static int64_t cause_ns(const struct found *f, enum gap_cause_kind kind, const char *name)
{
    const struct gap_cause *c = cause(f, kind, name);
    return c ? c->idle_ns : -1;
}

/* What must hold of any trace: everything adds up, and nothing is negative. */
static void check_sums(const struct found *f)
{
    const struct gaps *g = &f->gaps;
    for (uint32_t i = 0; i < g->n_devices; i++) {
        const struct gaps_device *d = &g->devices[i];
        int64_t sum = 0;
        for (uint32_t k = 0; k < g->n_causes; k++)
            if (g->causes[k].device == i) sum += g->causes[k].idle_ns;
        CHECK_EQ_INT(sum, d->idle_ns);
        CHECK_EQ_INT(d->busy_ns + d->idle_ns, d->window.end_ns - d->window.begin_ns);
    }
    for (uint32_t i = 0; i < g->n_all; i++) {
        int64_t sum = 0;
        for (uint32_t k = 0; k < g->all[i].n_parts; k++) {
            CHECK(g->all[i].parts[k].ns > 0);
            CHECK(g->all[i].parts[k].cause < g->n_causes);
            sum += g->all[i].parts[k].ns;
        }
        CHECK_EQ_INT(sum, idle_gap_ns(g->all[i].at));
        CHECK(idle_gap_ns(g->all[i].at) >= g->min_ns);
    }
}

/* device   100-200                                        400-500
 * thread      [forward                  [mm  [cudaMalloc]   ] ]
 *                  [_set_context [walk]]       launch 380 */
TEST(each_moment_belongs_to_the_deepest_row)
{
    struct kit k = kit_begin();
    kit_launch(&k, 90, "a", 100, 100);
    kit_label(&k, "forward", 150, 300);
    kit_python(&k, "diffusers/hooks/hooks.py(268): _set_context", 210, 90);
    kit_python(&k, "torch/nn/modules/module.py(2800): named_modules", 230, 40);
    kit_python(&k, "<built-in method add of set object at 0x7f>", 240, 10);
    kit_op(&k, "aten::mm", 320, 100);
    kit_call(&k, "cudaMalloc", 340, 30);
    kit_launch(&k, 380, "b", 400, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_LABEL, "forward"), kit_ns(10 + 20)); /* 200-210, 300-320 */
    CHECK_EQ_INT(cause_ns(&f, CAUSE_PYTHON, "_set_context"), kit_ns(90));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_OP, "aten::mm"), kit_ns(20 + 10)); /* 320-340, 370-380 */
    CHECK_EQ_INT(cause_ns(&f, CAUSE_ALLOCATION, "cudaMalloc"), kit_ns(30));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_LAUNCH, "cudaLaunchKernel"), kit_ns(20));
    REQUIRE(CHECK_EQ_UINT(f.gaps.n_all, 1));
    CHECK_EQ_UINT(f.gaps.all[0].n_parts, 5);
    CHECK_EQ_INT(f.gaps.all[0].parts[0].ns, kit_ns(90)); /* most first */
    const struct gap_cause *c = &f.gaps.causes[f.gaps.all[0].parts[0].cause];
    CHECK_EQ_BYTES(trace_name(f.t, c->frame), "diffusers/hooks/hooks.py(268): _set_context");
    uint32_t n;
    const struct gap_cause_inner *inner = gaps_inner(&f.gaps, (uint32_t)(c - f.gaps.causes), &n);
    REQUIRE(CHECK_EQ_UINT(n, 1));
    CHECK_EQ_BYTES(inner[0].name, "named_modules");
    CHECK_EQ_INT(inner[0].idle_ns, kit_ns(40)); /* the C function inside it is its own */
    done(&f);
}

/* The gaps between the forwards of the Flux.2 run before and after its fix. */
static struct found forwards(const double *gap_us, int n)
{
    struct kit k = kit_begin();
    double at = 1000;
    for (int i = 0; i <= n; i++) {
        kit_launch(&k, at - 10, "gemm", at, 5000);
        at += 5000;
        if (i == n) break;
        kit_python(&k, "diffusers/hooks/hooks.py(268): _set_context", at + 1, gap_us[i] - 30);
        at += gap_us[i];
    }
    return run(&k, 5);
}

TEST(gaps_between_forwards_name_the_python_function)
{
    static const double before[] = {5523, 8007, 5508}, after[] = {158, 2777, 136};
    struct found f = forwards(before, 3), g = forwards(after, 3);
    check_sums(&f);
    check_sums(&g);
    CHECK_EQ_INT(f.gaps.devices[0].idle_ns, kit_ns(5523 + 8007 + 5508));
    CHECK_EQ_INT(g.gaps.devices[0].idle_ns, kit_ns(158 + 2777 + 136));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_PYTHON, "_set_context"), kit_ns(5523 + 8007 + 5508 - 90));
    CHECK_EQ_INT(idle_gap_ns(f.gaps.all[0].at), kit_ns(8007));
    CHECK_EQ_INT(f.gaps.devices[0].median_ns, kit_ns(5523));
    CHECK(!f.gaps.devices[0].small_shapes);
    done(&f);
    done(&g);
}

TEST(the_profilers_cost_is_not_the_users)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 100);
    kit_op(&k, "aten::mm", 105, 2500);
    kit_row(&k, KIND_OVERHEAD, "Activity Buffer Request", 120, 2300, NULL);
    k.call_us = 2450;
    kit_launch(&k, 115, "b", 2570, 100); /* the request happens inside the launch */
    struct found f = run(&k, 5);
    check_sums(&f);
    const struct gap_cause *c = cause(&f, CAUSE_PROFILER, "Activity Buffer Request");
    REQUIRE(c != NULL);
    CHECK_EQ_INT(c->idle_ns, kit_ns(2300));
    CHECK(!gaps_recurs(c, steps_of(&f.cx)));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_OP, "aten::mm"), kit_ns(5));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_LAUNCH, "cudaLaunchKernel"), kit_ns(5 + 150));
    done(&f);
}

TEST(a_launch_of_many_milliseconds_loads_code)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 100);
    k.call_us = 6000;
    kit_launch(&k, 105, "b", 6120, 100);
    k.call_us = 5;
    kit_launch(&k, 6300, "c", 6310, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_LOADING, "cudaLaunchKernel"), kit_ns(6010));
    CHECK(cause_ns(&f, CAUSE_LAUNCH, "cudaLaunchKernel") <= kit_ns(90));
    done(&f);
}

/* thread   [run                                      ]
 *             [wrapper                         ]
 *                [mark ]  [forward       ]
 * Its own time in between is left to the user's function: it may be what a sample missed. */
TEST(the_recorder_is_never_to_blame)
{
    struct kit k = kit_begin();
    kit_launch(&k, 90, "a", 100, 100);
    kit_python(&k, "strata_tools/_run.py(1): run", 150, 900);
    kit_python(&k, "build/python/strata/_stage.py(48): wrapper", 210, 700);
    kit_python(&k, "build/python/strata/_gpu_time.py(49): mark", 300, 50);
    kit_python(&k, "net.py(7): forward", 400, 200);
    kit_launch(&k, 950, "b", 960, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_PROFILER, "strata in the program"), kit_ns(50));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_PYTHON, "forward"), kit_ns(200));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_PYTHON, "run"), kit_ns(750 - 250));
    CHECK(!cause(&f, CAUSE_PYTHON, "wrapper") && !cause(&f, CAUSE_PYTHON, "mark"));
    done(&f);
}

TEST(what_comes_back_is_not_warm_up)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 5; i++) {
        kit_launch(&k, 1000 * i, "a", 1000 * i + 10, 100);
        kit_row(&k, KIND_OVERHEAD, "Lazy Function Loading", 1000 * i + 200, 300, NULL);
    }
    struct found f = run(&k, 5);
    check_sums(&f);
    const struct gap_cause *c = cause(&f, CAUSE_LOADING, "Lazy Function Loading");
    REQUIRE(c != NULL);
    CHECK_EQ_UINT(c->count, 4);
    CHECK_EQ_INT(c->idle_ns, kit_ns(4 * 300));
    CHECK(gaps_recurs(c, steps_of(&f.cx)));
    done(&f);
}

TEST(a_full_queue_explains_no_idle_time)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 100);
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 120, 50, NULL);
    kit_launch(&k, 200, "b", 210, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK(cause(&f, CAUSE_PROFILER, "Command Buffer Full") == NULL);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_UNTRACED, "CPU work not recorded"), kit_ns(90));
    done(&f);
}

TEST(waiting_in_a_sync_names_its_site)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 1000);
    kit_item(&k, 100, 1020, 30); /* returns at 1050; the copy runs 1019-1020 */
    kit_launch(&k, 1100, "b", 1110, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    const struct gap_cause *c = cause(&f, CAUSE_SYNC, "cudaStreamSynchronize");
    REQUIRE(c != NULL);
    CHECK_EQ_INT(c->idle_ns, kit_ns(30));
    CHECK_EQ_UINT(c->site, 0);
    CHECK_EQ_UINT(f.gaps.all[0].site, 0); /* and the gap stands after it */
    done(&f);
}

TEST(dynamo_lookups_are_told_apart)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 100);
    kit_op(&k, "TorchDynamo Cache Lookup", 120, 60);
    kit_launch(&k, 200, "b", 210, 100);
    struct found f = run(&k, 5);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_DYNAMO, "TorchDynamo Cache Lookup"), kit_ns(60));
    check_sums(&f);
    done(&f);
}

TEST(short_gaps_are_one_cause_of_two_kinds)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 100);
    kit_launch(&k, 20, "b", 111, 100);  /* queued in time: 1 us from one to the next */
    kit_launch(&k, 212, "c", 215, 100); /* launched after b was done */
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_UINT(f.gaps.n_all, 0);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_SHORT, "back-to-back"), kit_ns(1));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_SHORT, "launch-bound"), kit_ns(4));
    done(&f);
}

TEST(the_threshold_moves_gaps_but_not_the_sum)
{
    static const double mins[] = {0, 1, 100, 1e6};
    for (int i = 0; i < 4; i++) {
        struct kit k = kit_begin();
        kit_launch(&k, 0, "a", 10, 100);
        kit_launch(&k, 20, "b", 111, 100);
        kit_launch(&k, 400, "c", 410, 100);
        struct found f = run(&k, mins[i]);
        check_sums(&f);
        CHECK_EQ_INT(f.gaps.devices[0].idle_ns, kit_ns(1 + 199));
        CHECK_EQ_UINT(f.gaps.n_all, i < 2 ? 2 : i == 2 ? 1 : 0);
        done(&f);
    }
}

TEST(launched_in_time_but_started_late)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 100);
    kit_launch(&k, 20, "b", 300, 100); /* same stream: the device itself */
    k.stream = 13;
    kit_launch(&k, 30, "c", 500, 100); /* another stream: a dependency */
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_DEVICE, "launched in time, started late"), kit_ns(190));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_DEPENDENCY, "waits for another stream"), kit_ns(100));
    done(&f);
}

TEST(from_a_copy_to_a_kernel)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaMemcpyAsync", 0, 5);
    kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 10, 100);
    kit_launch(&k, 20, "b", 117, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_DEVICE, "between a copy and other work"), kit_ns(7));
    done(&f);
}

/* device   10-30                    125-
 * thread       [cudaGraphLaunch  115]   begun before the gap, and still at it */
TEST(a_launch_that_takes_long_is_not_the_devices_doing)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 20);
    kit_call(&k, "cudaGraphLaunch", 15, 100);
    kit_work(&k, KIND_KERNEL, "node", 125, 10);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_LAUNCH, "cudaGraphLaunch"), kit_ns(95));
    CHECK(cause(&f, CAUSE_DEVICE, "launched in time, started late") == NULL);
    done(&f);
}

TEST(graphs_and_unknown_launches)
{
    struct kit k = kit_begin();
    kit_orphan(&k, "before", 0, 10);
    kit_orphan(&k, "before", 50, 10);
    kit_call(&k, "cudaGraphLaunch", 100, 10);
    kit_work(&k, KIND_KERNEL, "node", 115, 10);
    kit_work(&k, KIND_KERNEL, "node", 145, 10);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_UNKNOWN, "launch not recorded"), kit_ns(40));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_GRAPH, "between the nodes of a graph"), kit_ns(20));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_UNTRACED, "CPU work not recorded"), kit_ns(40));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_LAUNCH, "cudaGraphLaunch"), kit_ns(15));
    done(&f);
}

TEST(staging_for_a_copy)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 10, 100);
    k.bytes = 1 << 20;
    kit_call(&k, "cudaMemcpyAsync", 120, 500);
    kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 250, 300);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_COPY, "staging of pageable memory"), kit_ns(130));
    done(&f);
}

/* The backward pass is launched by another thread; before it, the main thread was working. */
TEST(a_thread_that_had_nothing_to_do_yet_is_not_asked)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "forward", 10, 100);
    kit_python(&k, "train.py(7): loss", 90, 150);
    k.tid = 2;
    kit_op(&k, "autograd::engine::evaluate_function", 250, 100);
    kit_launch(&k, 260, "backward", 270, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK_EQ_INT(cause_ns(&f, CAUSE_PYTHON, "loss"), kit_ns(130));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_UNTRACED, "CPU work not recorded"), kit_ns(10));
    CHECK_EQ_INT(cause_ns(&f, CAUSE_OP, "autograd::engine::evaluate_function"), kit_ns(10));
    done(&f);
}

TEST(rounds_of_a_label_are_one_cause)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        char label[32];
        snprintf(label, sizeof label, "ProfilerStep#%d", i + 2);
        kit_label(&k, label, 1000 * i + 5, 900);
        kit_launch(&k, 1000 * i + 10, "a", 1000 * i + 20, 100);
        kit_launch(&k, 1000 * i + 500, "b", 1000 * i + 510, 100);
    }
    struct found f = run(&k, 5);
    check_sums(&f);
    const struct gap_cause *c = cause(&f, CAUSE_LABEL, "ProfilerStep#*");
    REQUIRE(c != NULL);
    CHECK_EQ_UINT(c->count, 5);
    CHECK_EQ_UINT(c->in_steps, 3);
    CHECK(gaps_recurs(c, steps_of(&f.cx)));
    done(&f);
}

/* Kernels of 2 us launched every 10: no fault of any function. */
TEST(small_shapes_are_called_so)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 50; i++) {
        char op[16];
        snprintf(op, sizeof op, "aten::op%d", i % 5);
        kit_op(&k, op, 10 * i, 9);
        kit_launch(&k, 10 * i + 4, "tiny", 10 * i + 9, 2);
    }
    struct found f = run(&k, 5);
    check_sums(&f);
    CHECK(f.gaps.devices[0].small_shapes);
    CHECK_EQ_INT(f.gaps.devices[0].kernel_ns, kit_ns(2));
    CHECK_EQ_INT(f.gaps.devices[0].interval_ns, kit_ns(10));
    done(&f);
}

TEST(devices_are_counted_apart)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::mm", 0, 1000);
    kit_launch(&k, 0, "a", 10, 100);
    kit_launch(&k, 150, "a", 160, 100);
    k.device = 1;
    kit_launch(&k, 20, "b", 30, 100);
    kit_launch(&k, 300, "b", 310, 100);
    struct found f = run(&k, 5);
    check_sums(&f);
    REQUIRE(CHECK_EQ_UINT(f.gaps.n_devices, 2));
    CHECK_EQ_INT(f.gaps.devices[0].idle_ns, kit_ns(50));
    CHECK_EQ_INT(f.gaps.devices[1].idle_ns, kit_ns(180));
    CHECK_EQ_INT(f.gaps.devices[0].before_ns, kit_ns(10));
    CHECK_EQ_INT(f.gaps.devices[1].after_ns, kit_ns(1000 - 410));
    done(&f);
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Rows at random: crossing, overlapping, orphaned, kernels before their launch. */
static void add_random_rows(struct kit *k, uint64_t *state)
{
    static const char *const names[] = {"a.py(1): f", "torch/nn/m.py(2): g", "aten::mm",
                                        "cudaStreamSynchronize", "cudaMalloc"};
    for (int i = 0; i < 200; i++) {
        double us = next_random(state) % 20000, dur = next_random(state) % 300;
        k->tid = 1 + (int)(next_random(state) % 3);
        k->stream = 7 + (int)(next_random(state) % 2);
        k->device = (int)(next_random(state) % 2);
        switch (next_random(state) % 6) {
        case 0: kit_launch(k, us, "k", us - 20 + dur, next_random(state) % 100); break;
        case 1: kit_python(k, names[next_random(state) % 2], us, dur * 4); break;
        case 2: kit_op(k, names[2], us, dur); break;
        case 3: kit_call(k, names[3 + next_random(state) % 2], us, dur); break;
        case 4: kit_orphan(k, "orphan", us, dur / 4); break;
        default: kit_row(k, KIND_OVERHEAD, "Activity Buffer Request", us, dur, NULL); break;
        }
    }
}

TEST(everything_adds_up_on_random_traces)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct kit k = kit_begin();
        uint64_t state = seed;
        add_random_rows(&k, &state);
        struct found f = run(&k, next_random(&state) % 50);
        check_sums(&f);
        int64_t exposed = 0, idle = 0;
        for (size_t i = 0; i < f.syncs.waits->n; i++) exposed += exposed_of(&f.cx)->ns[i];
        for (uint32_t i = 0; i < f.gaps.n_devices; i++) idle += f.gaps.devices[i].idle_ns;
        CHECK(exposed <= idle);
        done(&f);
        if (test_failed_checks) {
            printf("  with seed %d\n", (int)seed);
            return;
        }
    }
}

static int run_once(void *trace)
{
    struct found f = {.t = trace};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    int rc = run_passes(&f, 5);
    context_done(&f.cx);
    arena_done(&f.mem);
    return rc;
}

TEST(survives_running_out_of_memory)
{
    struct kit k = kit_begin();
    kit_label(&k, "step_1", 0, 100);
    kit_label(&k, "step_2", 120, 100);
    kit_python(&k, "a.py(1): f", 0, 1000);
    kit_python(&k, "torch/a.py(1): f", 150, 50);
    kit_row(&k, KIND_OVERHEAD, "Activity Buffer Request", 120, 10, NULL);
    kit_launch(&k, 0, "a", 10, 100);
    kit_launch(&k, 300, "a", 310, 100);
    struct trace *t = kit_end(&k);
    CHECK_EVERY_ALLOC(run_once, t);
    trace_free(t);
}

TEST(a_trace_without_device_work_has_no_gaps)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::mm", 0, 1000);
    struct found f = run(&k, 5);
    CHECK_EQ_UINT(f.gaps.n_devices, 0);
    CHECK_EQ_UINT(f.gaps.n_causes, 0);
    done(&f);
}

TEST_MAIN
