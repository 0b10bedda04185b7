/* test_launches.c: latency told from queue wait, the queue over time, launch-bound stages. */
#include "analyze/launches/launches.h"

#include "kit.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct stages s;
    struct launches l;
};

static struct found measure(struct kit *k)
{
    struct found f = {.t = kit_end(k)};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    if (!f.t || !CHECK_EQ_INT(context_need(&f.cx, &launches_pass, NULL), 0)) return f;
    f.s = *stages_of(&f.cx);
    f.l = *launches_of(&f.cx);
    return f;
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

static const char *ahead(const struct found *f)
{
    return f->l.n_devices ? ahead_name(f->l.devices[0].ahead) : "none";
}

TEST(latency_and_queue_wait_are_apart)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "first", 9, 100);    /* idle: returned at 5, starts at 9 */
    kit_launch(&k, 10, "second", 110, 50); /* queued behind it */
    kit_launch(&k, 300, "third", 303, 10); /* idle: starts before the call returns */
    struct found f = measure(&k);
    const struct launch_group *all = &f.l.all;
    CHECK_EQ_UINT(all->how[LAUNCH_WAIT_IDLE], 2);
    CHECK_EQ_UINT(all->how[LAUNCH_WAIT_QUEUED], 1);
    CHECK_EQ_INT(all->from_start.max_ns, 9000);
    CHECK_EQ_INT(all->from_start.median_ns, 6000);
    CHECK_EQ_INT(all->from_end.max_ns, 4000);
    CHECK_EQ_INT(all->from_end.median_ns, 1000); /* of 4 and -2 */
    CHECK_EQ_INT(all->queued.median_ns, 100000);
    CHECK_EQ_INT(all->back_to_back.median_ns, 1000);
    CHECK_EQ_UINT(all->launches, 3);
    done(&f);
}

/* The CPU launches every 10 us, kernels take 200 us: delays of milliseconds are healthy. */
static struct kit deep_queue(void)
{
    struct kit k = kit_begin();
    kit_label(&k, "forward", 0, 1000);
    for (int i = 0; i < 100; i++) kit_launch(&k, i * 10, "gemm", 10 + i * 201, 200);
    return k;
}

TEST(a_deep_queue_is_healthy)
{
    struct kit k = deep_queue();
    struct found f = measure(&k);
    CHECK_EQ_STR(ahead(&f), "cpu");
    CHECK_EQ_UINT(f.l.devices[0].queue.deepest, 95);
    CHECK(f.l.devices[0].mean > 40);
    CHECK(f.l.devices[0].starved_pct < 0.1);
    CHECK(!f.l.all.launch_bound);
    CHECK(!f.l.stages[0].launch_bound);
    CHECK_EQ_INT(f.l.all.from_end.median_ns, 5000); /* of the one launch onto an idle stream */
    done(&f);
}

TEST(short_kernels_far_apart_are_launch_bound)
{
    struct kit k = kit_begin();
    kit_label(&k, "small", 0, 1000);
    for (int i = 0; i < 20; i++) kit_launch(&k, i * 50, "add", i * 50 + 8, 3);
    kit_label(&k, "big", 2000, 1000);
    for (int i = 0; i < 20; i++) kit_launch(&k, 2000 + i * 50, "gemm", 2008 + i * 400, 399);
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(f.l.n_stages, 2));
    CHECK(f.l.stages[0].launch_bound);
    CHECK(!f.l.stages[1].launch_bound);
    CHECK_EQ_INT(f.l.stages[0].interval.median_ns, 50000);
    CHECK_EQ_INT(f.l.stages[0].kernel.median_ns, 3000);
    done(&f);
}

TEST(a_stage_that_waits_for_copies_is_not_launch_bound)
{
    struct kit k = kit_begin();
    kit_label(&k, "offloaded", 0, 10000);
    for (int i = 0; i < 10; i++) {
        kit_call(&k, "cudaMemcpyAsync", i * 1000, 900);
        kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", i * 1000 + 10, 880);
        kit_launch(&k, i * 1000 + 910, "gemm", i * 1000 + 920, 20);
    }
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_IDLE], 10);
    CHECK(!f.l.stages[0].launch_bound);
    CHECK_EQ_STR(ahead(&f), "lockstep");
    done(&f);
}

TEST(a_starved_device)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 50; i++) kit_launch(&k, i * 100, "add", i * 100 + 10, 20);
    struct found f = measure(&k);
    CHECK_EQ_STR(ahead(&f), "device");
    /* of each 100 us the kernel runs 20 and is under way for 10 */
    CHECK_NEAR(f.l.devices[0].starved_pct, 70, 1);
    CHECK_NEAR(f.l.devices[0].zero_pct, 90, 1);
    CHECK_NEAR(f.l.devices[0].few_pct, 100, 1e-9);
    CHECK_EQ_UINT(f.l.devices[0].median, 0);
    done(&f);
}

TEST(a_graph_launch_is_one_launch)
{
    struct kit k = kit_begin();
    kit_label(&k, "decode", 0, 1000);
    for (int i = 0; i < 3; i++) {
        kit_call(&k, "cudaGraphLaunch", i * 1000, 10);
        for (int n = 0; n < 40; n++) kit_work(&k, KIND_KERNEL, "node", i * 1000 + 20 + n * 5, 4);
    }
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.l.all.launches, 3);
    CHECK_EQ_UINT(f.l.all.graph_launches, 3);
    CHECK_EQ_UINT(f.l.all.kernels, 120);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_IN_GRAPH], 117);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_IDLE], 3);
    CHECK_EQ_INT(f.l.all.from_end.median_ns, 10000);
    CHECK(!f.l.all.launch_bound);
    REQUIRE(CHECK_EQ_UINT(f.l.n_calls, 1));
    CHECK_EQ_UINT(f.l.calls[0].n_work, 120);
    done(&f);
}

TEST(held_back_by_another_stream)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "long", 10, 1000);
    k.stream = 13;
    kit_launch(&k, 20, "dependent", 1012, 10); /* waits for an event of the other stream */
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_BEHIND], 1);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_IDLE], 1);
    done(&f);
}

TEST(the_profilers_buffers_are_no_latency)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaLaunchKernel", 0, 2000);
    kit_work(&k, KIND_KERNEL, "first", 2010, 10);
    kit_row(&k, KIND_OVERHEAD, "Activity Buffer Request", 50, 1900, NULL);
    kit_launch(&k, 3000, "second", 3008, 10);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_OVERHEAD], 1);
    CHECK_EQ_INT(f.l.all.from_start.max_ns, 8000);
    done(&f);
}

TEST(clocks_that_disagree_and_launches_before_the_window)
{
    struct kit k = kit_begin();
    kit_orphan(&k, "warm", 0, 5);
    kit_launch(&k, 20, "early", 15, 10);
    struct found f = measure(&k);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_UNKNOWN], 1);
    CHECK_EQ_UINT(f.l.all.how[LAUNCH_WAIT_SKEWED], 1);
    CHECK_EQ_UINT(f.l.all.from_start.n, 0);
    done(&f);

    k = kit_begin();
    kit_orphan(&k, "only", 0, 5);
    f = measure(&k);
    CHECK_EQ_STR(ahead(&f), "unknown");
    done(&f);
}

TEST(cost_of_calls_by_name)
{
    struct kit k = kit_begin();
    k.call_us = 7;
    kit_launch(&k, 0, "a", 10, 1);
    kit_launch(&k, 100, "b", 110, 1);
    kit_call(&k, "cudaMemsetAsync", 200, 50);
    kit_work(&k, KIND_MEMSET, "Memset (Device)", 210, 1);
    kit_call(&k, "cudaStreamSynchronize", 300, 500); /* puts nothing on the device */
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(f.l.n_calls, 2));
    CHECK_EQ_BYTES(trace_str(f.t, f.l.calls[0].name), "cudaMemsetAsync");
    CHECK_EQ_INT(f.l.calls[1].cost.total_ns, 14000);
    CHECK_EQ_UINT(f.l.calls[1].cost.n, 2);
    done(&f);
}

TEST(depth_over_time_in_parts)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "a", 1, 600);
    kit_launch(&k, 301, "b", 601, 0); /* waits for the second half of the window */
    struct found f = measure(&k);
    const struct device_queue *q = &f.l.devices[0];
    CHECK_EQ_INT(q->window.end_ns - q->window.begin_ns, 600000);
    CHECK_NEAR(q->bins[0], 0, 1e-9);
    CHECK_NEAR(q->bins[29], 0, 1e-9);
    CHECK_NEAR(q->bins[30], 1, 1e-9);
    CHECK_NEAR(q->bins[59], 1, 1e-9);
    CHECK_NEAR(q->mean, 0.5, 1e-9);
    done(&f);
}

static int run_launches(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &launches_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct kit k = deep_queue();
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EVERY_ALLOC(run_launches, t);
    trace_free(t);
}

TEST_MAIN
