/* test_timing.c: timing.json read and written, ranks side by side, two runs compared. */
#include "format/timing.h"

#include <math.h>

#include "analyze/compare/timings.h"
#include "base/file.h"
#include "kit.h"
#include "recording.h"

static struct arena mem;

static void put(const struct folder *f, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    if (file_write_whole(path, text, strlen(text), NULL) < 0) abort();
}

static int read_text(const char *text, struct timing *t, struct err *e)
{
    struct folder f = folder_new();
    put(&f, "timing.json", text);
    char path[256];
    snprintf(path, sizeof path, "%s/timing.json", f.path);
    err_init(e);
    int rc = timing_read(path, &mem, t, e);
    folder_done(&f);
    return rc;
}

TEST(what_is_written_is_read)
{
    struct timing_stage stages[] = {
        {.path = "a",
         .name = "a",
         .count = 3,
         .total_ns = 6000000,
         .self_ns = 2000000,
         .first_ns = 3000000,
         .median_ns = 2000000,
         .p95_ns = 2900000,
         .min_ns = 1000000,
         .max_ns = 3000000,
         .std_ns = 1e6,
         .peak_bytes = -1,
         .gpu_ns = -1},
        {.path = "a/\"b\"",
         .name = "\"b\"",
         .count = 1,
         .errors = 2,
         .unfinished = 1,
         .total_ns = 1,
         .self_ns = 1,
         .std_ns = -1,
         .peak_bytes = -1,
         .gpu_ns = -1},
    };
    struct timing in = {.pipeline = "p",
                        .host = "h",
                        .timestamp = "t",
                        .pid = 7,
                        .rank = 2,
                        .world = 4,
                        .wall_ns = 9000000,
                        .total_ns = 6000000,
                        .lost_records = 5,
                        .recovered = true,
                        .stages = stages,
                        .n_stages = 2};
    struct buf b;
    buf_init(&b);
    timing_print(&in, &b);
    struct timing out;
    struct err e;
    REQUIRE(read_text(buf_c(&b), &out, &e) == 0);
    CHECK_EQ_STR(out.pipeline, "p");
    CHECK_EQ_INT(out.pid, 7);
    CHECK_EQ_INT(out.rank, 2);
    CHECK_EQ_INT(out.wall_ns, 9000000);
    CHECK_EQ_UINT(out.lost_records, 5);
    CHECK(out.recovered);
    REQUIRE(out.n_stages == 2);
    CHECK_EQ_INT(out.stages[0].median_ns, 2000000);
    CHECK_NEAR(out.stages[0].std_ns, 1e6, 1);
    CHECK_EQ_INT(out.stages[0].gpu_ns, -1);
    CHECK_EQ_STR(out.stages[1].path, "a/\"b\"");
    CHECK_EQ_UINT(out.stages[1].errors, 2);
    CHECK_EQ_UINT(out.stages[1].unfinished, 1);
    CHECK(timing_find(&out, "a") == &out.stages[0]);
    CHECK(timing_find(&out, "b") == NULL);
    buf_done(&b);
    arena_done(&mem);
}

TEST(memory_of_the_fullest_device)
{
    struct timing t;
    struct err e;
    REQUIRE(
        read_text(
            "{\"stages\":{\"a\":{\"count\":1,\"memory\":{\"rss_peak_bytes\":900,\"devices\":{"
            "\"cuda:0\":{\"peak_reserved_bytes\":10},\"cuda:1\":{\"peak_reserved_bytes\":30}}}},"
            "\"b\":{\"memory\":{\"rss_peak_bytes\":900}}}}",
            &t, &e) == 0);
    CHECK_EQ_INT(t.stages[0].peak_bytes, 30);
    CHECK(t.stages[0].peak_on_device);
    CHECK_EQ_INT(t.stages[1].peak_bytes, 900);
    CHECK(!t.stages[1].peak_on_device);
    arena_done(&mem);
}

TEST(what_is_no_timing_file)
{
    struct timing t;
    struct err e;
    CHECK_EQ_INT(read_text("{\"traceEvents\":[]}", &t, &e), ERR_FORMAT);
    CHECK_EQ_INT(read_text("[1,2", &t, &e), ERR_FORMAT);
    CHECK_EQ_INT(e.offset, 4);
    CHECK_EQ_INT(read_text("", &t, &e), ERR_FORMAT);
    CHECK_EQ_INT(read_text("{\"schema\":99,\"stages\":{}}", &t, &e), ERR_VERSION);
    /* numbers that are none */
    REQUIRE(
        read_text(
            "{\"stages\":{\"a\":{\"count\":-4,\"duration_ms\":1e300,\"first_ms\":\"x\"},\"b\":3}}",
            &t, &e) == 0);
    REQUIRE(t.n_stages == 1);
    CHECK_EQ_UINT(t.stages[0].count, 0);
    CHECK_EQ_INT(t.stages[0].total_ns, -1);
    arena_done(&mem);
}

TEST(files_of_a_run)
{
    struct folder f = folder_new();
    put(&f, "timing_rank1.json", "{\"rank\":1,\"stages\":{}}");
    put(&f, "timing_rank0.json", "{\"rank\":0,\"stages\":{}}");
    put(&f, "timing_rank2.json", "{\"rank\":2,\"sta");
    put(&f, "timing_io_signature.json", "{\"stages\":{}}");
    put(&f, "environment.json", "{}");
    struct timing_run run;
    REQUIRE(timing_run_read(f.path, &mem, &run, NULL) == 0);
    CHECK_EQ_UINT(run.n, 2);
    CHECK_EQ_UINT(run.n_bad, 1);
    CHECK_EQ_INT(run.list[0].rank, 0);
    CHECK_EQ_INT(run.list[1].rank, 1);
    folder_done(&f);
    REQUIRE(timing_run_read("/nowhere", &mem, &run, NULL) == 0);
    CHECK_EQ_UINT(run.n, 0);
    arena_done(&mem);
}

/* Four ranks; the times of compute and of the stage they meet in, in ms. */
static struct ranks rank_times(const int compute[4], const int meeting[4], const char *name)
{
    static struct timing list[4];
    static struct timing_stage stages[4][2];
    for (int i = 0; i < 4; i++) {
        stages[i][0] = (struct timing_stage){.path = "compute",
                                             .name = "compute",
                                             .count = 10,
                                             .total_ns = compute[i] * 1000000ll,
                                             .self_ns = compute[i] * 1000000ll};
        stages[i][1] = (struct timing_stage){.path = name,
                                             .name = name,
                                             .count = 10,
                                             .total_ns = meeting[i] * 1000000ll,
                                             .self_ns = meeting[i] * 1000000ll};
        list[i] = (struct timing){
            .rank = i, .world = 4, .wall_ns = 1000000000, .stages = stages[i], .n_stages = 2};
    }
    struct ranks r;
    if (ranks_run(list, 4, &mem, &r, NULL) < 0) abort();
    return r;
}

TEST(the_straggler_is_slow_alone)
{
    struct ranks r =
        rank_times((int[]){100, 105, 400, 98}, (int[]){310, 300, 5, 309}, "all_reduce");
    CHECK_EQ_INT(r.straggler, 2);
    CHECK_EQ_STR(r.stages[r.straggler_in].path, "compute");
    CHECK_EQ_STR(r.stages[r.waiting_in].path, "all_reduce");
    CHECK_EQ_INT(r.excess_ns, 295000000);
    CHECK_EQ_INT(r.others_ns, 101000000);
    CHECK_EQ_INT(r.stages[0].max_rank, 2);
    CHECK_EQ_INT(r.stages[0].min_rank, 3);
    CHECK_NEAR(r.stages[0].imbalance_pct, 127.6, 0.1);
    CHECK_EQ_INT(r.stages[1].min_rank, 2);
    arena_done(&mem);
}

/* Whatever the stage is called in which the others wait: they are three, the straggler is one. */
TEST(waiting_by_another_name)
{
    struct ranks r = rank_times((int[]){100, 400, 104, 98}, (int[]){310, 5, 300, 309}, "exchange");
    CHECK_EQ_INT(r.straggler, 1);
    CHECK_EQ_STR(r.stages[r.straggler_in].path, "compute");
    arena_done(&mem);
}

/* Nobody waits in a stage that only happens to be a little shorter on the straggler. */
TEST(a_straggler_nobody_waits_for)
{
    struct ranks r = rank_times((int[]){100, 400, 104, 98}, (int[]){40, 20, 42, 39}, "save");
    CHECK_EQ_INT(r.straggler, 1);
    CHECK_EQ_UINT(r.waiting_in, UINT32_MAX);
    arena_done(&mem);
}

TEST(even_ranks_have_no_straggler)
{
    struct ranks r = rank_times((int[]){100, 105, 104, 98}, (int[]){10, 5, 6, 12}, "all_reduce");
    CHECK_EQ_INT(r.straggler, -1);
    r = rank_times((int[]){0, 0, 0, 0}, (int[]){0, 0, 0, 0}, "barrier");
    CHECK_EQ_INT(r.straggler, -1);
    arena_done(&mem);
}

/* Runs of one stage whose median calls take these times; ends with 0. */
static struct timing_side runs_of(const double *median_ms)
{
    uint32_t n = 0;
    while (median_ms[n] > 0) n++;
    struct timing *runs = arena_zalloc(&mem, n + (size_t)1, sizeof *runs);
    struct timing_stage *stages = arena_zalloc(&mem, n + (size_t)1, sizeof *stages);
    if (!runs || !stages) abort();
    for (uint32_t i = 0; i < n; i++) {
        int64_t ns = (int64_t)(median_ms[i] * 1e6);
        stages[i] = (struct timing_stage){.path = "s",
                                          .name = "s",
                                          .count = 30,
                                          .total_ns = 30 * ns,
                                          .median_ns = ns,
                                          .peak_bytes = -1};
        runs[i] = (struct timing){.stages = &stages[i], .n_stages = 1, .wall_ns = 30 * ns};
    }
    return (struct timing_side){runs, n};
}

#define RUNS(...) runs_of((const double[]){__VA_ARGS__, 0})

static enum timing_verdict verdict(struct timing_side a, struct timing_side b)
{
    struct timing_diff d;
    if (timing_diff_run(a, b, &mem, &d, NULL) < 0) abort();
    struct timing_change c = d.changes[0];
    bool slower = c.change_pct > 0;
    if (c.verdict == TIMING_SLOWER) CHECK(slower && c.stats.low_pct > 0);
    if (c.verdict == TIMING_FASTER) CHECK(!slower && c.stats.high_pct < 0);
    arena_done(&mem);
    return c.verdict;
}

TEST(more_than_chance)
{
    CHECK_EQ_INT(verdict(RUNS(10, 10.1, 9.9), RUNS(11, 11.1, 10.9)), TIMING_SLOWER);
    CHECK_EQ_INT(verdict(RUNS(10, 10.1, 9.9), RUNS(9, 9.1, 8.9)), TIMING_FASTER);
    CHECK_EQ_INT(verdict(RUNS(10, 13, 8), RUNS(11, 14, 9)), TIMING_SAME);            /* scatter */
    CHECK_EQ_INT(verdict(RUNS(10, 10, 10), RUNS(10.05, 10.05, 10.05)), TIMING_SAME); /* no news */
    CHECK_EQ_INT(verdict(RUNS(10), RUNS(20)), TIMING_UNKNOWN);
    CHECK_EQ_INT(verdict(RUNS(10, 10), RUNS(20, 20)), TIMING_UNKNOWN);
}

/* Noise of a busy machine: mostly a few per cent, now and then half as long again. */
static double busy_ms(uint64_t *state)
{
    double v[2];
    for (int i = 0; i < 2; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        v[i] = (double)(*state >> 33) / (double)(1u << 31);
    }
    return 10 * (1 + 0.1 * v[0]) * (v[1] < 0.2 ? 1.5 : 1);
}

TEST(the_same_program_on_a_busy_machine)
{
    uint64_t state = 7;
    uint32_t wrong = 0, all = 450;
    for (uint32_t i = 0; i < all; i++) {
        double t[2][4] = {{0}};
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < 3; k++) t[s][k] = busy_ms(&state);
        enum timing_verdict v = verdict(runs_of(t[0]), runs_of(t[1]));
        wrong += v != TIMING_SAME;
    }
    CHECK(wrong * 100 <= all * 2);
}

TEST(stages_of_one_side)
{
    struct timing_stage a[] = {{.path = "s", .name = "s", .count = 5, .median_ns = 1000000},
                               {.path = "s", .name = "s", .count = 5, .median_ns = 1000000}};
    struct timing_stage b[] = {a[0], a[1]};
    a[0].path = a[0].name = "gone";
    b[0].path = b[0].name = "new";
    struct timing before = {.stages = a, .n_stages = 2}, after = {.stages = b, .n_stages = 2};
    struct timing_diff d;
    struct timing_side sides[2] = {{&before, 1}, {&after, 1}};
    REQUIRE(timing_diff_run(sides[0], sides[1], &mem, &d, NULL) == 0);
    REQUIRE(d.n == 3);
    CHECK_EQ_STR(d.changes[0].path, "gone");
    CHECK(d.changes[0].after == NULL && d.changes[2].before == NULL);
    CHECK_EQ_INT(d.changes[0].verdict, TIMING_ONE_SIDE);
    CHECK(isnan(d.changes[0].change_pct));
    arena_done(&mem);
}

/* Calls of one, two and three: one alone does not deviate from anything. */
TEST(deviation_of_a_few_calls)
{
    static const char *const names[] = {"one", "two", "three"};
    static const double us[] = {10, 30, 20};
    struct kit k = kit_begin();
    for (int n = 0; n < 3; n++)
        for (int i = 0; i <= n; i++) kit_label(&k, names[n], n * 1000 + i * 100, us[i]);
    struct trace *t = kit_end(&k);
    struct timing timing;
    REQUIRE(t != NULL);
    arena_init(&mem);
    struct timing_rows_of of = {.process = 0, .since_ns = INT64_MIN, .begin_ns = INT64_MIN};
    REQUIRE(CHECK_EQ_INT(timing_rows_run(t, &of, &mem, &timing, NULL), 0));
    REQUIRE(CHECK_EQ_UINT(timing.n_stages, 3));
    CHECK_NEAR(timing.stages[0].std_ns, -1, 0);
    CHECK_NEAR(timing.stages[1].std_ns, 10000 * sqrt(2), 1);
    CHECK_NEAR(timing.stages[2].std_ns, 10000, 1);
    arena_done(&mem);
    trace_free(t);
}

/* What torch marks itself is called as strata.run calls it where no timeline is recorded. */
TEST(ranges_of_torch_have_the_names_of_stages)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        double at = i * 1000;
        kit_label(&k, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 100);
        kit_label(&k, "Optimizer.step#AdamW.step", at + 200, 50);
        kit_label(&k, "Optimizer.step#SGD.step", at + 300, 50);
    }
    struct trace *t = kit_end(&k);
    struct timing timing;
    REQUIRE(t != NULL);
    arena_init(&mem);
    struct timing_rows_of of = {.process = 0, .since_ns = INT64_MIN, .begin_ns = -1000000};
    REQUIRE(CHECK_EQ_INT(timing_rows_run(t, &of, &mem, &timing, NULL), 0));
    REQUIRE(CHECK_EQ_UINT(timing.n_stages, 2));
    CHECK_EQ_STR(timing.stages[0].path, "DataLoader.__next__");
    CHECK_EQ_STR(timing.stages[1].path, "optimizer.step");
    CHECK_EQ_UINT(timing.stages[1].count, 6);
    CHECK_EQ_INT(timing.wall_ns, 3350000); /* from when the process began */
    CHECK_EQ_INT(timing.stages[0].peak_bytes, -1);
    arena_done(&mem);
    trace_free(t);
}

static int run_again(void *ctx)
{
    struct arena a;
    struct timing_run run;
    struct ranks r;
    struct timing_diff d;
    arena_init(&a);
    int rc = timing_run_read(ctx, &a, &run, NULL);
    if (rc == 0) rc = ranks_run(run.list, run.n, &a, &r, NULL);
    struct timing_side sides[2] = {{run.list, 1}, {run.list + 1, 1}};
    if (rc == 0) rc = timing_diff_run(sides[0], sides[1], &a, &d, NULL);
    arena_done(&a);
    return rc;
}

TEST(every_allocation_may_fail)
{
    struct folder f = folder_new();
    put(&f, "timing_rank0.json",
        "{\"rank\":0,\"stages\":{\"a\":{\"count\":4},\"a/b\":{\"count\":1}}}");
    put(&f, "timing_rank1.json", "{\"rank\":1,\"stages\":{\"a\":{\"count\":4}}}");
    CHECK_EVERY_ALLOC(run_again, f.path);
    folder_done(&f);
}

TEST_MAIN
