/* test_integrity.c: each way a recording goes wrong, beside one that looks alike and is fine. */
#include "analyze/quality/integrity.h"

#include "kit.h"
#include "trace/verify.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct integrity i;
};

static struct found judge_trace(struct trace *t)
{
    struct found f = {.t = t};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    if (f.t && CHECK_EQ_INT(context_need(&f.cx, &integrity_pass, NULL), 0))
        f.i = *integrity_of(&f.cx);
    return f;
}

static struct found judge(struct kit *k)
{
    return judge_trace(kit_end(k));
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

/* The same with `n` events that the importer could not use. */
static struct found judge_damaged(struct kit *k, enum damage_reason reason, int n)
{
    struct found f = {.t = kit_end(k)};
    arena_init(&f.mem);
    for (int i = 0; f.t && i < n; i++) damage_note(&f.t->damage, reason, 1000 + (uint64_t)i);
    context_init(&f.cx, f.t, &f.mem);
    if (f.t && CHECK_EQ_INT(context_need(&f.cx, &integrity_pass, NULL), 0))
        f.i = *integrity_of(&f.cx);
    return f;
}

static const struct problem *problem(const struct found *f, const char *id)
{
    for (uint32_t i = 0; i < f->i.n_problems; i++)
        if (strcmp(f->i.problems[i].kind->id, id) == 0) return &f->i.problems[i];
    return NULL;
}

static const char *level(const struct found *f, const char *id)
{
    const struct problem *d = problem(f, id);
    return d ? quality_name(d->level) : "none";
}

static const char *verdict(const struct found *f)
{
    return quality_name(f->i.quality);
}

/* A device that is busy all the time; every `keep`-th record in [from, to) is kept, 0 = none. */
static struct kit saturated(int n, int from, int to, int keep)
{
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) {
        kit_op(&k, "aten::mm", i * 20, 15);
        kit_call(&k, "cudaLaunchKernel", i * 20 + 2, 5);
        bool dropped = i >= from && i < to && (keep == 0 || i % keep);
        if (!dropped) kit_work(&k, KIND_KERNEL, "gemm", 10 + i * 100, 100);
    }
    return k;
}

TEST(a_healthy_trace_is_good)
{
    struct kit k = saturated(200, 0, 0, 1);
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    CHECK_EQ_UINT(f.i.n_problems, 0);
    CHECK(f.i.idle_trusted && f.i.times_trusted && f.i.links_trusted);
    CHECK_EQ_UINT(f.i.coverage.all.expected, 200);
    CHECK_EQ_UINT(f.i.coverage.all.recorded, 200);
    done(&f);
}

/* 600 rows: what was repaired is nobody's loss, what was skipped is one by its share. */
TEST(events_that_cannot_be_read)
{
    static const struct {
        enum damage_reason reason;
        int n;
        const char *level;
    } cases[] = {
        {DAMAGE_BAD_STRING, 300, "none"},   {DAMAGE_TRAILING_COMMA, 1, "none"},
        {DAMAGE_BAD_EVENT, 1, "usable"},    {DAMAGE_BAD_EVENT, 100, "doubtful"},
        {DAMAGE_LOST_RECORDS, 9, "usable"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k = saturated(200, 0, 0, 1);
        struct found f = judge_damaged(&k, cases[i].reason, cases[i].n);
        CHECK_EQ_STR(level(&f, "events_lost"), cases[i].level);
        CHECK_EQ_STR(level(&f, "truncated"), "none");
        const struct problem *d = problem(&f, "events_lost");
        if (d) CHECK_EQ_UINT(d->count, (uint64_t)cases[i].n);
        if (d) CHECK_EQ_UINT(d->of, (uint64_t)cases[i].n + f.t->n_rows);
        done(&f);
    }
    struct kit k = saturated(200, 0, 0, 1);
    struct found f = judge_damaged(&k, DAMAGE_TRUNCATED, 1);
    CHECK_EQ_STR(level(&f, "truncated"), "doubtful");
    CHECK_EQ_STR(level(&f, "events_lost"), "none");
    CHECK(!f.i.idle_trusted);
    done(&f);
}

TEST(dropped_records_never_make_a_device_idle)
{
    struct kit k = saturated(200, 20, 180, 50); /* 99 % dropped in the middle */
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "unusable");
    CHECK_EQ_STR(level(&f, "records_dropped"), "unusable");
    CHECK(!f.i.idle_trusted);
    CHECK(share_pct(f.i.coverage.all) < 25);
    CHECK_EQ_STR(trace_name(f.t, problem(&f, "records_dropped")->examples[0]).p,
                 "cudaLaunchKernel");
    done(&f);

    k = saturated(1000, 100, 900, 20); /* every 20th kept: 76 % gone */
    f = judge(&k);
    CHECK(!f.i.idle_trusted);
    done(&f);
}

TEST(a_few_missing_records_are_told_but_usable)
{
    struct kit k = saturated(1000, 500, 510, 0);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "records_dropped"), "usable");
    CHECK(f.i.idle_trusted);
    done(&f);
}

/* The window closes for both sides while the device is far behind: launches go on to its end, and
 * the device works to its end on what was queued before. */
TEST(a_deep_queue_at_the_end_loses_nothing)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 200; i++) {
        kit_op(&k, "aten::mm", i * 20, 15);
        kit_call(&k, "cudaLaunchKernel", i * 20 + 2, 5);
        if (i < 40) kit_work(&k, KIND_KERNEL, "gemm", 10 + i * 100, 100);
    }
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "records_stop_early"), "good");
    CHECK(f.i.idle_trusted);
    done(&f);
}

TEST(records_that_stop_when_the_buffers_are_full)
{
    struct kit k = saturated(200, 120, 200, 0);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "records_stop_early"), "doubtful");
    CHECK_EQ_UINT(problem(&f, "records_stop_early")->count, 80);
    CHECK(!f.i.idle_trusted);
    done(&f);

    k = saturated(200, 0, 120, 0);
    f = judge(&k);
    CHECK_EQ_STR(level(&f, "records_begin_late"), "unusable");
    CHECK(!f.i.idle_trusted);
    done(&f);
}

TEST(the_edges_of_a_window_are_normal)
{
    struct kit k = saturated(200, 198, 200, 0);
    kit_orphan(&k, "launched before", 0, 5);
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    CHECK_EQ_STR(level(&f, "records_stop_early"), "good");
    CHECK_EQ_STR(level(&f, "work_without_launch"), "good");
    CHECK(f.i.idle_trusted && f.i.links_trusted);
    done(&f);
}

TEST(coverage_by_step_and_device)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 3; s++) {
        kit_label(&k, "train_step", s * 1000, 900);
        for (int i = 0; i < 10; i++) {
            kit_call(&k, "cudaLaunchKernel", s * 1000 + i * 50, 5);
            if (s != 1 || i < 3) kit_work(&k, KIND_KERNEL, "gemm", s * 1000 + 10 + i * 50, 40);
        }
    }
    struct found f = judge(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3));
    CHECK_EQ_UINT(f.i.coverage.steps[0].recorded, 10);
    CHECK_EQ_UINT(f.i.coverage.steps[1].recorded, 3);
    CHECK_EQ_UINT(f.i.coverage.steps[1].expected, 10);
    REQUIRE(CHECK_EQ_UINT(f.i.coverage.n_devices, 1));
    CHECK_EQ_UINT(f.i.coverage.devices[0].launches.expected, 30);
    CHECK_EQ_UINT(f.i.coverage.devices[0].launches.recorded, 23);
    done(&f);
}

/* A saturated device under graph replays; the first `full` of them are recorded whole. */
static struct kit replays(int n, int full, int kernels_of_others)
{
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) {
        kit_call(&k, "cudaGraphLaunch", i * 1000, 20);
        int kernels = i < full ? 40 : kernels_of_others;
        for (int m = 0; m < kernels; m++)
            kit_work(&k, KIND_KERNEL, "node", i * 1000 + 30 + m * 20, 20);
        kit_call(&k, "cudaStreamSynchronize", i * 1000 + 30, 900);
    }
    return k;
}

TEST(graph_replays_under_recorded)
{
    struct kit k = replays(20, 2, 1);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "graph_replays_under_recorded"), "unusable");
    CHECK_EQ_UINT(problem(&f, "graph_replays_under_recorded")->count, 18);
    CHECK(!f.i.idle_trusted);
    done(&f);

    k = replays(20, 19, 0);
    f = judge(&k);
    CHECK_EQ_STR(level(&f, "graph_replays_under_recorded"), "doubtful");
    CHECK(!f.i.idle_trusted);
    done(&f);

    k = replays(20, 20, 0);
    f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    done(&f);
}

/* Per step two graphs that begin with the same kernel: a long one, and one whose launch takes
 * `launch_us` and that runs the kernels of `nodes`. */
static struct found two_graphs(const char *const *nodes, double launch_us)
{
    static const char *const names[] = {"fill", "gemm", "norm", "gelu", "add"};
    struct kit k = kit_begin();
    for (int i = 0; i < 10; i++) {
        double at = i * 1000;
        kit_call(&k, "cudaGraphLaunch", at, 40);
        for (int m = 0; m < 20; m++)
            kit_work(&k, KIND_KERNEL, names[m ? 1 + m % 4 : 0], at + 50 + m * 20, 18);
        kit_call(&k, "cudaGraphLaunch", at + 500, launch_us);
        for (int m = 0; nodes[m]; m++) kit_work(&k, KIND_KERNEL, nodes[m], at + 560 + m * 20, 18);
    }
    return judge(&k);
}

TEST(graphs_that_begin_alike_are_not_one_graph)
{
    static const char *const other[] = {"fill", "softmax", "add", NULL};
    struct found f = two_graphs(other, 40);
    CHECK_EQ_STR(level(&f, "graph_replays_under_recorded"), "none");
    CHECK_EQ_STR(verdict(&f), "good");
    done(&f);

    static const char *const part[] = {"fill", "norm", NULL}; /* as if the rest had been lost */
    f = two_graphs(part, 40);
    CHECK_EQ_UINT(f.i.coverage.graphs_short, 10);
    CHECK(!f.i.idle_trusted);
    done(&f);

    for (int i = 0; i < 2; i++) {
        f = two_graphs(part, i ? 5 : 120); /* launches that differ so much start another graph */
        CHECK_EQ_UINT(f.i.coverage.graphs_short, 0);
        CHECK_EQ_STR(verdict(&f), "good");
        done(&f);
    }
}

/* Every product is preceded by a fill of its workspace, which leaves no record. */
static struct kit with_fills(int n, int from, int to)
{
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) {
        kit_call(&k, "cudaMemsetAsync", i * 20, 1);
        kit_call(&k, "cudaLaunchKernel", i * 20 + 4, 5);
        if (i < from || i >= to) kit_work(&k, KIND_KERNEL, "gemm", i * 20 + 12, 15);
    }
    return k;
}

TEST(fills_of_zero_bytes_leave_no_record)
{
    struct kit k = with_fills(100, 0, 0);
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    CHECK(f.i.idle_trusted);
    CHECK_EQ_UINT(f.i.coverage.all.expected, 100);
    done(&f);

    k = with_fills(100, 30, 70); /* beside kernels without records they count as lost, too */
    f = judge(&k);
    CHECK_EQ_STR(level(&f, "records_dropped"), "unusable");
    CHECK_EQ_UINT(f.i.coverage.missing_mid, 81);
    done(&f);
}

TEST(graph_replays_that_leave_one_record_each)
{
    /* all alike, so no replay looks short of the others: the waiting CPU gives it away */
    struct kit k = replays(20, 0, 1);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "graph_replays_under_recorded"), "none");
    CHECK_EQ_STR(level(&f, "waits_without_work"), "unusable");
    CHECK(!f.i.idle_trusted);
    done(&f);
}

/* Graphs of four kernels, launched by calls of `launch_us` every 200 us. */
static struct found replayed(double launch_us, int nodes, bool ours)
{
    struct kit k = kit_begin();
    if (ours) kit_meta(&k, TRACE_META_RECORDED, "1");
    for (int i = 0; i < 20; i++) {
        kit_call(&k, "cuGraphLaunch", i * 200, launch_us);
        for (int n = 0; n < nodes; n++)
            kit_work(&k, KIND_KERNEL, "gemm", i * 200 + launch_us + n * 20, 18);
    }
    return judge(&k);
}

TEST(graphs_recorded_by_node_take_time_to_launch)
{
    struct found f = replayed(60, 4, true);
    CHECK_EQ_STR(level(&f, "graphs_by_node"), "usable");
    done(&f);
    f = replayed(10, 4, true);
    CHECK_EQ_STR(level(&f, "graphs_by_node"), "none");
    done(&f);
    f = replayed(60, 1, true); /* as a whole: nothing better is to be had */
    CHECK_EQ_STR(level(&f, "graphs_by_node"), "none");
    done(&f);
    f = replayed(60, 4, false);
    CHECK_EQ_STR(level(&f, "graphs_by_node"), "none");
    done(&f);
}

TEST(launches_while_a_graph_is_captured_do_not_run)
{
    struct kit k = saturated(20, 0, 0, 1);
    kit_call(&k, "cudaStreamBeginCapture", 3000, 5);
    for (int i = 0; i < 50; i++) kit_call(&k, "cudaLaunchKernel", 3010 + i * 10, 5);
    kit_call(&k, "cudaStreamEndCapture", 3600, 5);
    kit_launch(&k, 3700, "after", 3710, 10);
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    CHECK_EQ_UINT(f.i.coverage.all.expected, 21);
    done(&f);
}

TEST(a_driver_call_inside_a_runtime_call_is_one_launch)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 20; i++) {
        kit_call(&k, "cudaLaunchKernel", i * 100, 10);
        kit_work(&k, KIND_KERNEL, "gemm", i * 100 + 20, 50);
        kit_call(&k, "cuLaunchKernel", i * 100 + 2, 5);
    }
    struct found f = judge(&k);
    CHECK_EQ_UINT(f.i.coverage.all.expected, 20);
    CHECK_EQ_STR(verdict(&f), "good");
    done(&f);
}

/* Waits of 5 ms by `call`, during which the device works for `busy_us`. */
static struct kit waiting_in(const char *call, double busy_us)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 10; i++) {
        kit_launch(&k, i * 10000, "gemm", i * 10000 + 10, busy_us);
        kit_call(&k, call, i * 10000 + 20, 5000);
    }
    kit_op(&k, "aten::add", 100000, 10);
    kit_call(&k, "cudaDeviceSynchronize", 100020, 50000); /* the profiler's own, at the end */
    return k;
}

static struct kit waiting(double busy_us)
{
    return waiting_in("cudaStreamSynchronize", busy_us);
}

/* What its threads hand over before and after the work is no sign of lost records. */
TEST(a_cpu_that_waits_for_a_library)
{
    struct kit k = waiting_in("jax.Array.__float__", 100);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "waits_without_work"), "none");
    CHECK(f.i.idle_trusted);
    done(&f);
}

TEST(a_cpu_that_waits_for_an_idle_device)
{
    struct kit k = waiting(100);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "waits_without_work"), "doubtful");
    CHECK_EQ_UINT(problem(&f, "waits_without_work")->count, 10);
    CHECK(!f.i.idle_trusted);
    done(&f);

    k = waiting(4990);
    f = judge(&k);
    CHECK_EQ_STR(level(&f, "waits_without_work"), "none");
    CHECK(f.i.idle_trusted);
    done(&f);
}

TEST(the_last_synchronize_of_a_tiny_run_is_not_suspect)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::mm", 0, 50);
    kit_launch(&k, 10, "gemm", 30, 13);
    kit_launch(&k, 60, "add", 80, 13);
    kit_call(&k, "cudaDeviceSynchronize", 100, 1780);
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    done(&f);
}

TEST(records_without_a_time_stamp)
{
    struct kit k = kit_begin();
    double base = 2e6; /* a trace that does not begin at zero */
    for (int i = 0; i < 100; i++) {
        kit_call(&k, "cudaLaunchKernel", base + i * 20, 5);
        if (i % 10) kit_work(&k, KIND_KERNEL, "gemm", base + 10 + i * 20, 15);
        else kit_work(&k, KIND_KERNEL, "gemm", 0, 0);
    }
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "zero_times"), "doubtful");
    CHECK_EQ_UINT(problem(&f, "zero_times")->count, 10);
    CHECK(!f.i.idle_trusted);
    done(&f);
}

/* Fills and copies of next to nothing take no time on any clock. */
TEST(copies_that_take_no_time_are_no_fault)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 100; i++) {
        kit_launch(&k, i * 20.5, "gemm", 10 + i * 20.5, 8.25);
        kit_call(&k, "cudaMemcpyAsync", i * 20.5 + 6, 5);
        kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 19 + i * 20.5, 0);
    }
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "zero_times"), "none");
    done(&f);
}

/* Recorders of 2021 write whole microseconds: a kernel that lasts less has a duration of zero.
 * `finer` of the calls do not. */
static struct found in_microseconds(int finer)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 100; i++) {
        kit_call(&k, "cudaLaunchKernel", i * 20 + (i >= 50 ? 0.5 : 0), i < finer ? 5.25 : 5);
        kit_work(&k, KIND_KERNEL, "fill", 10 + i * 20, i % 10 ? 1 : 0);
    }
    return judge(&k);
}

TEST(short_kernels_of_whole_microseconds_are_no_fault)
{
    struct found f = in_microseconds(1); /* what follows a part that was left out may start later */
    CHECK(problem(&f, "zero_times") == NULL);
    CHECK(f.i.idle_trusted);
    done(&f);
    f = in_microseconds(100); /* finer times: then zero is a fault */
    CHECK_EQ_STR(level(&f, "zero_times"), "doubtful");
    done(&f);
}

/* Months after zero, a span at zero is from another clock, or from none: it would stretch the trace
 * over all of that. */
TEST(a_span_at_zero_far_from_all_others_has_no_time)
{
    struct kit k = kit_begin();
    kit_op(&k, "lost", 0, 10);
    for (int i = 0; i < 3; i++) kit_op(&k, "op", 3.8e12 + i * 100, 50);
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(trace_verify(t, 1, NULL), 0);
    CHECK_EQ_INT(t->begin_ns, 3800000000000000);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_NO_TIME], 1);
    trace_free(t);
    k = kit_begin(); /* near enough: it stays */
    kit_op(&k, "first", 0, 10);
    kit_op(&k, "op", 100, 50);
    t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(t->begin_ns, 0);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_NO_TIME], 0);
    trace_free(t);
}

TEST(times_far_outside_the_trace)
{
    struct kit k = saturated(100, 0, 0, 1);
    kit_call(&k, "cudaLaunchKernel", 1990, 5);
    kit_work(&k, KIND_KERNEL, "gemm", 9e9, 100);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "impossible_times"), "doubtful");
    CHECK(!f.i.times_trusted);
    done(&f);
}

static struct found skewed(double by_us)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 50; i++)
        kit_launch(&k, 1000 + i * 1000, "gemm", 1000 + i * 1000 - by_us, 100);
    return judge(&k);
}

TEST(clocks_that_disagree)
{
    struct found f = skewed(3);
    CHECK_EQ_STR(level(&f, "clock_skew"), "good");
    CHECK_EQ_STR(verdict(&f), "good");
    done(&f);
    f = skewed(50);
    CHECK_EQ_STR(level(&f, "clock_skew"), "usable");
    CHECK(f.i.times_trusted);
    done(&f);
    f = skewed(500);
    CHECK_EQ_STR(level(&f, "clock_skew"), "doubtful");
    CHECK(!f.i.times_trusted);
    done(&f);
}

TEST(nothing_links_work_to_launches)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 50; i++) {
        kit_op(&k, "aten::mm", i * 100, 20);
        kit_orphan(&k, "gemm", i * 100 + 30, 50);
    }
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "work_without_launch"), "doubtful");
    CHECK(!f.i.links_trusted);
    CHECK(f.i.idle_trusted);
    done(&f);
}

/* The launches may lie in the part before, unless there is none. */
TEST(a_later_part_of_a_long_recording_has_work_from_before)
{
    for (int before = 0; before < 2; before++) {
        struct kit k = kit_begin();
        for (int i = 0; i < 50; i++) {
            kit_op(&k, "aten::mm", i * 100, 20);
            kit_orphan(&k, "gemm", i * 100 + 30, 50);
        }
        struct trace *t = kit_end(&k);
        t->part.n_records = 100000;
        t->part.whole_begin_ns = t->begin_ns - (before ? 1000000 : 0);
        t->part.whole_end_ns = t->end_ns + 1000000;
        struct found f = judge_trace(t);
        CHECK_EQ_STR(level(&f, "work_without_launch"), before ? "usable" : "doubtful");
        done(&f);
    }
}

TEST(no_device_records_at_all)
{
    struct kit k = saturated(50, 0, 50, 0);
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "unusable");
    CHECK_EQ_STR(level(&f, "no_device_records"), "unusable");
    CHECK(!f.i.idle_trusted);
    done(&f);
}

TEST(a_trace_of_the_cpu_alone_is_fine)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 50; i++) kit_op(&k, "aten::mm", i * 100, 90);
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    done(&f);
}

TEST(an_empty_trace)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaDeviceSynchronize", 0, 10);
    kit_row(&k, KIND_OVERHEAD, "Activity Buffer Request", 2, 5, NULL);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "empty"), "unusable");
    done(&f);
    k = kit_begin();
    f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "unusable");
    done(&f);
}

TEST(stages_alone_are_not_nothing)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) kit_label(&k, "vae_decode", i * 100, 90);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "only_stages"), "usable");
    CHECK_EQ_STR(verdict(&f), "usable");
    done(&f);
    k = kit_begin();
    kit_label(&k, "ProfilerStep#1", 0, 90);
    f = judge(&k);
    CHECK_EQ_STR(level(&f, "empty"), "unusable");
    done(&f);
}

TEST(trailing_steps_without_work)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i);
        kit_label(&k, name, i * 100, 90);
        if (i < 5) kit_launch(&k, i * 100 + 5, "gemm", i * 100 + 10, 80);
    }
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "steps_without_work"), "usable");
    CHECK_EQ_UINT(problem(&f, "steps_without_work")->count, 1);
    CHECK(strstr(problem(&f, "steps_without_work")->means, "after the recording had ended") !=
          NULL);
    done(&f);
}

/* Not the last ones: another thing went wrong. */
TEST(steps_without_work_in_the_middle)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i);
        kit_label(&k, name, i * 100, 90);
        if (i != 2 && i != 5) kit_launch(&k, i * 100 + 5, "gemm", i * 100 + 10, 80);
    }
    struct found f = judge(&k);
    REQUIRE(problem(&f, "steps_without_work") != NULL);
    CHECK_EQ_UINT(problem(&f, "steps_without_work")->count, 2);
    CHECK(strstr(problem(&f, "steps_without_work")->means, "averages") != NULL);
    done(&f);
}

TEST(the_first_collective_waits_for_other_profilers)
{
    for (int slow = 0; slow < 2; slow++) {
        struct kit k = kit_begin();
        for (int i = 0; i < 10; i++)
            kit_launch(&k, i * 200, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20000.0 * i + 10,
                       i == 0 && slow ? 17000 : 900);
        struct found f = judge(&k);
        CHECK_EQ_STR(level(&f, "first_collective"), slow ? "usable" : "none");
        done(&f);
    }
}

TEST(overhead_that_is_told_apart)
{
    struct kit k = saturated(200, 0, 0, 1);
    kit_row(&k, KIND_OVERHEAD, "Activity Buffer Request", 100, 500, NULL);
    kit_row(&k, KIND_OVERHEAD, "Lazy Function Loading", 1000, 900, NULL);
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 3000, 900, NULL); /* a deep queue: healthy */
    struct found f = judge(&k);
    CHECK_EQ_STR(verdict(&f), "good");
    CHECK_EQ_STR(level(&f, "profiler_buffers"), "good");
    CHECK_EQ_STR(level(&f, "code_loading"), "good");
    CHECK_EQ_UINT(f.i.n_problems, 2);
    done(&f);
}

TEST(the_price_of_stacks)
{
    struct kit k = kit_begin();
    kit_meta(&k, "with_stack", "1");
    kit_meta(&k, "record_shapes", "0");
    for (int i = 0; i < 20000; i++) kit_python(&k, "module.py(1): f", i, 0.5);
    struct found f = judge(&k);
    CHECK_EQ_STR(level(&f, "recording_cost"), "usable");
    CHECK(strstr(f.i.problems[0].what,
                 "about 2.2 times as long because of recording (20,000 Python frames") != NULL);
    CHECK_EQ_UINT(f.i.recording.frames, 20000);
    CHECK_EQ_UINT(f.i.recording.flags, RECORDED_STACKS);
    done(&f);
}

/* How much slower is not known where next to nothing but recording is left. */
TEST(nothing_but_recording)
{
    struct kit k = kit_begin();
    kit_meta(&k, "with_stack", "1");
    for (int i = 0; i < 40000; i++) kit_python(&k, "module.py(1): f", 0.5 * i, 0.25);
    struct found f = judge(&k);
    CHECK(strstr(f.i.problems[0].what, "took most of the time of the CPU (40,000 Python") != NULL);
    done(&f);
}

static int run_integrity(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &integrity_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct kit k = replays(6, 4, 3);
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EVERY_ALLOC(run_integrity, t);
    trace_free(t);
}

/* `n` labels inside each other, and a kernel in the innermost one. */
static struct found nested(int n)
{
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) kit_label(&k, "deeper", i, 4.0 * n - 2 * i);
    kit_launch(&k, n + 1, "k", n + 9, 10);
    return judge(&k);
}

TEST(nesting_has_a_ceiling_and_says_so)
{
    struct found f = nested(TRACE_DEEPEST - 1), deep = nested(TRACE_DEEPEST + 100);
    CHECK(problem(&f, "nested_deep") == NULL);
    REQUIRE(problem(&deep, "nested_deep") != NULL);
    CHECK_EQ_UINT(problem(&deep, "nested_deep")->count, 101);
    CHECK_EQ_STR(level(&deep, "nested_deep"), "usable");
    for (row_t r = 0; r < TRACE_DEEPEST + 100; r++) {
        uint32_t up = r > TRACE_DEEPEST ? TRACE_DEEPEST - 1 : r - 1;
        CHECK_EQ_UINT(deep.t->depth[r], r > TRACE_DEEPEST ? TRACE_DEEPEST : r);
        CHECK_EQ_UINT(deep.t->parent[r], r ? up : ROW_NONE);
    }
    done(&f);
    done(&deep);
}

TEST_MAIN
