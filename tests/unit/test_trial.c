/* test_trial.c: replays of a streamed run under other schemes, checked by hand. */
#include "offload_kit.h"

/* 200 us, 800 us and 400 us of copies at 10 bytes a ns, after an embedding of 2 us. */
static const int64_t model[] = {20000, 2000000, 8000000, 4000000};

static struct stream_spec spec(bool pageable)
{
    return (struct stream_spec){.steps = 3,
                                .passes = 1,
                                .bytes = model,
                                .n_modules = 4,
                                .bytes_per_ns = 10,
                                .compute_us = 50,
                                .pageable = pageable,
                                .labels = true};
}

static void open_spec(struct stream_lab *l, const struct stream_spec *s)
{
    CHECK_EQ_INT(stream_lab_open(l, stream_trace(s), false, NULL), 0);
    l->tr.bytes_per_ns[HOST_PAGEABLE] = 10;
    l->tr.bytes_per_ns[HOST_PINNED] = 40;
}

static struct scheme_times run(struct stream_lab *l, struct scheme sc)
{
    struct scheme_times t = {0};
    struct err e;
    err_init(&e);
    if (sc.weight_scale == 0) sc.weight_scale = 1;
    if (!CHECK_EQ_INT(trial_run(&l->tr, &sc, &l->mem, &t, &e), 0)) puts(e.msg);
    return t;
}

static double us(int64_t ns)
{
    return (double)ns / 1000;
}

TEST(as_it_is_gives_the_trace_back)
{
    struct stream_spec s = spec(true);
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PAGEABLE});
    CHECK_NEAR(us(t.step_ns), us(l.o.times.step_ns), 2);
    CHECK_NEAR(us(t.first_ns), us(l.o.times.first_ns), 2);
    CHECK_EQ_INT(l.tr.traced_host, HOST_PAGEABLE);
    stream_lab_close(&l);
}

TEST(what_stays_costs_nothing_after_the_first_step)
{
    static const bool stays[] = {false, false, true, false};
    struct stream_spec s = spec(true);
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times all = run(&l, (struct scheme){.host = HOST_PAGEABLE});
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PAGEABLE, .resident = stays});
    CHECK_NEAR(us(t.first_ns), us(all.first_ns), 2);
    /* gone: the copy and its wait for the kernel before it, whose 50 us now show by themselves */
    CHECK_NEAR(us(all.step_ns - t.step_ns), 800, 40);
    l.tr.alloc_ns = 1000000; /* for 10 MB; part of it hides behind the kernel before */
    t = run(&l, (struct scheme){.host = HOST_PAGEABLE, .resident = stays});
    CHECK_NEAR(us(t.first_ns - all.first_ns), 0.8 * 1000 - 50, 30);
    t = run(&l, (struct scheme){.host = HOST_PAGEABLE, .resident = stays, .preloaded = true});
    CHECK_NEAR(us(all.first_ns - t.first_ns), 800, 40);
    stream_lab_close(&l);
}

TEST(everything_there_leaves_the_compute)
{
    static const bool stays[] = {true, true, true, true};
    struct stream_spec s = spec(false);
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times t =
        run(&l, (struct scheme){.host = HOST_PINNED, .resident = stays, .preloaded = true});
    CHECK_NEAR(us(t.step_ns), 4 * 50, 40);
    stream_lab_close(&l);
}

/* Giving memory back costs 100 us a module, and goes with the load. */
TEST(what_stays_is_not_put_away_either)
{
    static const bool none[] = {false, false, false, false}, all[] = {true, true, true, true};
    struct stream_spec s = spec(true);
    s.compute_us = 5;
    s.free_us = 100;
    struct stream_lab l;
    open_spec(&l, &s);
    CHECK_EQ_UINT(l.o.later.frees, 8);
    CHECK(l.o.empties_cache);
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PAGEABLE, .resident = none});
    CHECK(us(t.step_ns) > 1402 + 4 * 100);
    t = run(&l, (struct scheme){.host = HOST_PAGEABLE, .resident = all});
    CHECK(us(t.step_ns) < 4 * 40);
    t = run(&l, (struct scheme){.host = HOST_PINNED, .depth = 1});
    CHECK_NEAR(us(t.step_ns), 1402.0 / 4, 4 * 40);
    stream_lab_close(&l);
}

TEST(pinned_memory_copies_faster_and_frees_the_cpu)
{
    struct stream_spec s = spec(true);
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PINNED});
    CHECK_NEAR(us(t.step_ns), 4 * 50 + 1402.0 / 4, 60);
    stream_lab_close(&l);
}

TEST(pageable_memory_copies_slower_and_holds_the_cpu)
{
    struct stream_spec s = spec(false);
    s.bytes_per_ns = 40;
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times now = run(&l, (struct scheme){.host = HOST_PINNED});
    CHECK_NEAR(us(now.step_ns), 4 * 50 + 1402.0 / 4, 60);
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PAGEABLE});
    CHECK_NEAR(us(t.step_ns), 4 * 50 + 1402, 250);
    CHECK(t.step_ns > now.step_ns + 1000000);
    stream_lab_close(&l);
}

TEST(fewer_bits_are_fewer_bytes)
{
    struct stream_spec s = spec(false);
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times all = run(&l, (struct scheme){.host = HOST_PINNED});
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PINNED, .weight_scale = 0.5});
    CHECK_NEAR(us(all.step_ns - t.step_ns), 701, 5);
    stream_lab_close(&l);
}

/* Copies of 100 us hide behind kernels of 300: what is left of a step is the compute and the first
 * copy. */
TEST(copies_ahead_hide_behind_compute)
{
    static const int64_t equal[] = {1000000, 1000000, 1000000, 1000000, 1000000};
    struct stream_spec s = spec(false);
    s.bytes = equal;
    s.n_modules = 5;
    s.compute_us = 300;
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times now = run(&l, (struct scheme){.host = HOST_PINNED});
    CHECK_NEAR(us(now.step_ns), 5 * 400, 60);
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PINNED, .depth = 1});
    CHECK_NEAR(us(t.step_ns), 5 * 300 + 100, 5 * 40);
    CHECK_NEAR(us(t.first_ns), us(now.first_ns), 2);
    stream_lab_close(&l);
}

/* The other way round the copies are what is left, and the last kernel. */
TEST(copies_ahead_are_bound_by_the_copies)
{
    static const int64_t equal[] = {3000000, 3000000, 3000000, 3000000, 3000000};
    struct stream_spec s = spec(false);
    s.bytes = equal;
    s.n_modules = 5;
    s.compute_us = 100;
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme_times t = run(&l, (struct scheme){.host = HOST_PINNED, .depth = 1});
    CHECK_NEAR(us(t.step_ns), 5 * 300 + 100, 5 * 40);
    static const bool stays[] = {false, true, false, true, false};
    t = run(&l, (struct scheme){.host = HOST_PINNED, .depth = 1, .resident = stays});
    CHECK_NEAR(us(t.step_ns), 3 * 300 + 100, 5 * 40);
    stream_lab_close(&l);
}

/* Streams wait for each other and the CPU for neither: 5 copies, and what is left of the kernels.
 * With room for one module more, copies wait for no kernel. */
TEST(events_leave_the_cpu_free)
{
    static const int64_t equal[] = {3000000, 3000000, 3000000, 3000000, 3000000};
    struct stream_spec s = spec(false);
    s.bytes = equal;
    s.n_modules = 5;
    s.compute_us = 290;
    struct stream_lab l;
    open_spec(&l, &s);
    struct scheme by_event = {.host = HOST_PINNED, .depth = 1, .by_event = true};
    struct scheme_times waits = run(&l, (struct scheme){.host = HOST_PINNED, .depth = 1});
    struct scheme_times t = run(&l, by_event);
    CHECK_NEAR(us(t.step_ns), 5 * 300 + 290, 40);
    CHECK(t.step_ns <= waits.step_ns);
    by_event.depth = 3;
    CHECK(run(&l, by_event).step_ns <= t.step_ns + 1000);
    stream_lab_close(&l);
}

/* The embedding and the head stand outside of the blocks: from pageable memory, in turn, and back.
 */
TEST(what_lies_outside_of_blocks_comes_in_turn)
{
    static const int64_t blocks[] = {5000000, 100000, 2000000, 100000,
                                     2000000, 100000, 2000000, 7000000};
    struct stream_spec s = spec(true);
    s.bytes = blocks;
    s.n_modules = 8;
    struct stream_lab l;
    open_spec(&l, &s);
    CHECK(l.s.modules[0].loose && l.s.modules[7].loose && !l.s.modules[1].loose);
    struct scheme sc = {.host = HOST_PINNED, .depth = 1, .by_block = true};
    struct scheme_times t = run(&l, sc);
    /* 12 MB at 10 bytes a ns; three blocks of 2.1 MB at 40, two hidden behind kernels of 100 */
    CHECK_NEAR(us(t.step_ns), 1200 + 52.5 + 8 * 50, 150);
    l.tr.back_bytes_per_ns = 20;
    CHECK_NEAR(us(run(&l, sc).step_ns - t.step_ns), 600, 1);
    /* 8 MB more than the trace shows: there and back */
    l.tr.rest_bytes = 20000000;
    CHECK_NEAR(us(run(&l, sc).step_ns - t.step_ns), 600 + 800 + 400, 1);
    stream_lab_close(&l);
}

/* Pinned copies without labels: two equal blocks and a head. The call of copy `long_one` lasts to
 * the end of the trace; that of copy `bare_one`, on a thread of its own, has no duration. */
static struct trace *odd_trace(const int64_t *bytes, int n, int long_one, int bare_one)
{
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) {
        double at = 100 + 100 * i;
        struct call_info call = {++k.correlation, ID_NONE, 0, 0};
        struct batch_row row = {.ts_ns = kit_ns(at),
                                .dur_ns = i == bare_one ? 0 : kit_ns(i == long_one ? 5000 : 5),
                                .name = intern_add(batch_strings(k.p), str_c("cudaMemcpyAsync")),
                                .kind = KIND_RUNTIME,
                                .cat = batch_cat(k.p, str_c("cuda_runtime")),
                                .phase = i == bare_one ? 'i' : 'X',
                                .pid = {100, 0},
                                .tid = {i == bare_one ? 2 : 1, 0},
                                .aux = &call};
        CHECK_EQ_INT(batch_add(k.p, &row), 0);
        k.bytes = bytes[i];
        kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", at + 10, 20);
        kit_launch(&k, at + 40, "gemm", at + 50, 20);
    }
    return kit_end(&k);
}

static void run_ahead(struct trace *t, uint32_t n_loads)
{
    struct stream_lab l;
    struct err e;
    err_init(&e);
    if (!CHECK_EQ_INT(stream_lab_open(&l, t, false, &e), 0)) puts(e.msg);
    l.tr.bytes_per_ns[HOST_PAGEABLE] = 10;
    l.tr.bytes_per_ns[HOST_PINNED] = 40;
    CHECK_EQ_UINT(l.s.n_loads, n_loads);
    for (uint32_t i = 0; i < l.s.n_loads; i++) CHECK(l.tr.thread_of_load[i] < l.m.n_threads);
    for (int by_block = 0; by_block < 2; by_block++)
        CHECK(run(&l, (struct scheme){.depth = 1, .host = HOST_PINNED, .by_block = by_block})
                  .step_ns > 0);
    stream_lab_close(&l);
}

/* The call of the last block's copy lasts on over the one of the head: moved ahead, it takes the
 * head's call with it, and the head's copy has none. */
TEST(a_call_that_lasts_over_the_next_load)
{
    static const int64_t bytes[] = {100000, 2000000, 100000, 2000000, 7000000};
    run_ahead(odd_trace(bytes, 5, 3, -1), 5);
}

/* Such a call is no node of the replay, and its thread no thread. */
TEST(a_copy_whose_call_has_no_duration)
{
    static const int64_t bytes[] = {100000, 2000000, 100000, 2000000, 7000000};
    run_ahead(odd_trace(bytes, 5, -1, 4), 4);
}

static int run_all(void *ctx)
{
    struct stream_lab *l = ctx;
    static const bool stays[] = {false, false, true, false};
    for (uint32_t depth = 0; depth < 3; depth++) {
        struct scheme sc = {.host = HOST_PINNED,
                            .resident = stays,
                            .depth = depth,
                            .by_event = depth == 2,
                            .weight_scale = 1};
        struct scheme_times t;
        TRY(trial_run(&l->tr, &sc, &l->mem, &t, NULL));
    }
    return 0;
}

TEST(survives_every_failed_allocation)
{
    struct stream_spec s = spec(true);
    struct stream_lab l;
    open_spec(&l, &s);
    CHECK_EVERY_ALLOC(run_all, &l);
    stream_lab_close(&l);
}

TEST_MAIN
