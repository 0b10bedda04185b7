/* test_timeline.c: busy, idle, queue depth and sums, to the nanosecond. */
#include "analyze/device/timeline.h"

#include "analyze/device/queue.h"
#include "analyze/device/work_sum.h"
#include "kit.h"

static struct timeline run(const struct trace *t, struct arena *mem)
{
    struct timeline tl = {0};
    CHECK_EQ_INT(timeline_run(t, mem, &tl, NULL), 0);
    return tl;
}

/*   stream 7    100-200        300-400-450     600-600
 *   stream 13        150-250             440-500        */
static struct trace *two_streams(void)
{
    struct kit k = kit_begin();
    kit_launch(&k, 10, "a", 100, 100);
    kit_launch(&k, 20, "b", 300, 100);
    kit_launch(&k, 30, "c", 400, 50); /* touches b */
    kit_launch(&k, 40, "empty", 600, 0);
    k.stream = 13;
    kit_call(&k, "cudaMemcpyAsync", 50, 5);
    kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 150, 100);
    kit_call(&k, "cudaMemsetAsync", 60, 5);
    kit_work(&k, KIND_MEMSET, "Memset (Device)", 440, 60);
    kit_row(&k, KIND_GPU_SYNC, "Stream Sync", 250, 50, NULL);
    return kit_end(&k);
}

TEST(busy_is_a_union_over_streams)
{
    struct arena mem;
    arena_init(&mem);
    struct trace *t = two_streams();
    REQUIRE(t != NULL);
    struct timeline tl = run(t, &mem);
    REQUIRE(CHECK_EQ_UINT(tl.n_devices, 1));
    const struct device_line *d = timeline_device(&tl, 0);
    REQUIRE(d != NULL);
    CHECK_EQ_UINT(d->n_work, 6);
    REQUIRE(CHECK_EQ_UINT(d->n_busy, 2));
    CHECK_EQ_INT(d->busy[0].begin_ns, 100000);
    CHECK_EQ_INT(d->busy[0].end_ns, 250000);
    CHECK_EQ_INT(d->busy[1].begin_ns, 300000);
    CHECK_EQ_INT(d->busy[1].end_ns, 500000);
    CHECK_EQ_INT(d->extent.begin_ns, 100000);
    CHECK_EQ_INT(d->extent.end_ns, 600000);
    CHECK_EQ_INT(d->busy_before_ns[2], 350000);
    CHECK(timeline_device(&tl, 1) == NULL);
    trace_free(t);
    arena_done(&mem);
}

TEST(busy_and_idle_in_any_window_add_up_to_it)
{
    struct arena mem;
    arena_init(&mem);
    struct trace *t = two_streams();
    REQUIRE(t != NULL);
    struct timeline tl = run(t, &mem);
    const struct device_line *d = &tl.devices[0];
    CHECK_EQ_INT(timeline_busy_ns(d, 0, 1000000), 350000);
    CHECK_EQ_INT(timeline_busy_ns(d, 120000, 130000), 10000);
    CHECK_EQ_INT(timeline_busy_ns(d, 249999, 300001), 2);
    CHECK_EQ_INT(timeline_idle_ns(d, 250000, 300000), 50000);
    CHECK_EQ_INT(timeline_busy_ns(d, 600000, 500000), 0);
    CHECK_EQ_INT(timeline_idle_ns(d, 600000, 500000), 0);
    for (int64_t from = 0; from < 700000; from += 7001)
        for (int64_t to = from; to < 700000; to += 9973)
            CHECK_EQ_INT(timeline_busy_ns(d, from, to) + timeline_idle_ns(d, from, to), to - from);
    trace_free(t);
    arena_done(&mem);
}

TEST(looking_up_a_time)
{
    struct arena mem;
    arena_init(&mem);
    struct trace *t = two_streams();
    REQUIRE(t != NULL);
    struct timeline tl = run(t, &mem);
    const struct device_line *d = &tl.devices[0];
    CHECK_EQ_UINT(timeline_busy_at(d, 0), 0);
    CHECK_EQ_UINT(timeline_busy_at(d, 249999), 0);
    CHECK_EQ_UINT(timeline_busy_at(d, 250000), 1);
    CHECK_EQ_UINT(timeline_busy_at(d, 500000), 2);
    CHECK_EQ_UINT(timeline_work_at(t, d, 100000), 0);
    CHECK_EQ_UINT(timeline_work_at(t, d, 100001), 1);
    CHECK_EQ_UINT(timeline_work_at(t, d, 600001), 6);
    for (uint32_t i = 1; i < d->n_work; i++)
        CHECK(t->ts_ns[d->work[i - 1]] <= t->ts_ns[d->work[i]]);
    trace_free(t);
    arena_done(&mem);
}

TEST(devices_are_kept_apart)
{
    struct arena mem;
    arena_init(&mem);
    struct kit k = kit_begin();
    k.device = 1;
    kit_launch(&k, 0, "b", 50, 10);
    k.device = 0;
    kit_launch(&k, 5, "a", 50, 20);
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    struct timeline tl = run(t, &mem);
    REQUIRE(CHECK_EQ_UINT(tl.n_devices, 2));
    CHECK_EQ_INT(tl.devices[0].device, 0);
    CHECK_EQ_INT(tl.devices[0].busy_before_ns[1], 20000);
    CHECK_EQ_INT(tl.devices[1].device, 1);
    CHECK_EQ_INT(tl.devices[1].busy_before_ns[1], 10000);
    trace_free(t);
    arena_done(&mem);
}

static int devices_rc(int n, struct err *e)
{
    struct arena mem;
    struct timeline tl;
    struct kit k = kit_begin();
    for (k.device = 0; k.device < n; k.device++) kit_launch(&k, k.device * 10.0, "a", 50, 20);
    struct trace *t = kit_end(&k);
    arena_init(&mem);
    int rc = timeline_run(t, &mem, &tl, e);
    if (rc == 0) CHECK_EQ_UINT(tl.n_devices, (unsigned)n);
    trace_free(t);
    arena_done(&mem);
    return rc;
}

TEST(there_is_a_ceiling_of_devices)
{
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(devices_rc(TIMELINE_MOST_DEVICES, &e), 0);
    CHECK_EQ_INT(devices_rc(TIMELINE_MOST_DEVICES + 1, &e), ERR_LIMIT);
    CHECK(strstr(e.msg, "more than 256 devices") != NULL);
}

TEST(no_device_no_line)
{
    struct arena mem;
    arena_init(&mem);
    struct kit k = kit_begin();
    kit_op(&k, "aten::add", 0, 10);
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EQ_UINT(run(t, &mem).n_devices, 0);
    trace_free(t);
    arena_done(&mem);
}

/* Many streams, merged by a heap: checked against a plain bitmap of microseconds. */
TEST(many_streams_against_an_oracle)
{
    enum { STREAMS = 37, EACH = 40, WINDOW = 10000 };
    static bool busy[WINDOW + 200];
    struct arena mem;
    arena_init(&mem);
    struct kit k = kit_begin();
    uint64_t seed = 1;
    for (k.stream = 0; k.stream < STREAMS; k.stream++) {
        for (int i = 0; i < EACH; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int at = (int)((seed >> 33) % WINDOW), dur = (int)((seed >> 20) % 7);
            kit_launch(&k, at, "k", at, dur);
            for (int us = at; us < at + dur; us++) busy[us] = true;
        }
    }
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    struct timeline tl = run(t, &mem);
    const struct device_line *d = &tl.devices[0];
    CHECK_EQ_UINT(d->n_work, STREAMS * EACH);
    for (int from = 0; from < WINDOW; from += 977) {
        int64_t sum = 0;
        for (int to = from; to < WINDOW; to++) {
            if (to % 61 == 0) CHECK_EQ_INT(timeline_busy_ns(d, from * 1000, to * 1000), sum);
            sum += busy[to] ? 1000 : 0;
        }
    }
    trace_free(t);
    arena_done(&mem);
}

TEST(queue_counts_what_is_launched_and_not_started)
{
    struct arena mem;
    arena_init(&mem);
    struct kit k = kit_begin();
    kit_launch(&k, 10, "a", 100, 10);
    kit_launch(&k, 20, "b", 200, 10);
    kit_launch(&k, 30, "skewed", 25, 10); /* seems to start before its launch */
    kit_orphan(&k, "before the window", 5, 3);
    kit_call(&k, "cudaGraphLaunch", 40, 5);
    for (int i = 0; i < 3; i++) kit_work(&k, KIND_KERNEL, "node", 300 + i * 10, 10);
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    struct timeline tl = run(t, &mem);
    struct queue q = {0};
    CHECK_EQ_INT(queue_run(t, &tl.devices[0], &mem, &q, NULL), 0);
    CHECK_EQ_UINT(queue_depth_at(&q, 0), 0);
    CHECK_EQ_UINT(queue_depth_at(&q, 10000), 1);
    CHECK_EQ_UINT(queue_depth_at(&q, 35000), 2);
    CHECK_EQ_UINT(queue_depth_at(&q, 40000), 5);
    CHECK_EQ_UINT(queue_depth_at(&q, 100000), 4);
    CHECK_EQ_UINT(queue_depth_at(&q, 310000), 1);
    CHECK_EQ_UINT(queue_depth_at(&q, 320000), 0);
    CHECK_EQ_UINT(q.deepest, 5);
    trace_free(t);
    arena_done(&mem);
}

TEST(sum_union_span_and_idle_are_four_things)
{
    struct arena mem;
    arena_init(&mem);
    struct trace *t = two_streams();
    REQUIRE(t != NULL);
    struct timeline tl = run(t, &mem);
    const struct device_line *d = &tl.devices[0];
    struct work_sum w = work_sum_run(t, &tl, d->work, d->n_work);
    CHECK_EQ_INT(w.sum_ns, 410000);
    CHECK_EQ_INT(w.union_ns, 350000);
    CHECK_EQ_INT(w.span_ns, 500000);
    CHECK_EQ_INT(w.idle_ns, 150000);
    CHECK_EQ_UINT(w.kernels, 4);
    CHECK_EQ_UINT(w.copies, 1);
    CHECK_EQ_UINT(w.sets, 1);
    CHECK_EQ_INT(w.copy_bytes, 1000);
    /* only a and c: the device works on b in between, which is not idle */
    row_t two[] = {d->work[3], d->work[0]};
    CHECK_EQ_BYTES(trace_name(t, two[0]), "c");
    w = work_sum_run(t, &tl, two, 2);
    CHECK_EQ_INT(w.union_ns, 150000);
    CHECK_EQ_INT(w.span_ns, 350000);
    CHECK_EQ_INT(w.idle_ns, 50000);
    trace_free(t);
    arena_done(&mem);
}

static int run_all(void *ctx)
{
    const struct trace *t = ctx;
    struct arena mem;
    struct timeline tl;
    struct queue q;
    arena_init(&mem);
    int rc = timeline_run(t, &mem, &tl, NULL);
    if (rc == 0) rc = queue_run(t, &tl.devices[0], &mem, &q, NULL);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct trace *t = two_streams();
    REQUIRE(t != NULL);
    CHECK_EVERY_ALLOC(run_all, t);
    trace_free(t);
}

TEST_MAIN
