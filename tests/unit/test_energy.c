/* test_energy.c: joules by step and stage, from a counter or from power. */
#include "analyze/answer/energy.h"

#include <math.h>

#include "import/import.h"
#include "scratch.h"
#include "test.h"

static struct {
    FILE *file;
    struct trace *t;
    struct arena mem;
    struct context cx;
} all;

static void span(const char *cat, const char *name, double us, double dur_us, const char *args)
{
    fprintf(all.file,
            "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":7,\"ts\":%.1f,"
            "\"dur\":%.1f,\"args\":{%s}},\n",
            cat, name, strcmp(cat, "kernel") == 0 ? 0 : 9, us, dur_us, args);
}

static void stage(const char *name, int n, double us, double dur_us, double work_us)
{
    char args[96];
    snprintf(args, sizeof args, "\"correlation\":%d,\"device\":0,\"stream\":7", n);
    span("user_annotation", name, us, dur_us, "");
    span("cuda_runtime", "cudaLaunchKernel", us + 10, 5, args);
    span("kernel", "gemm", us + 100, work_us, args);
}

/* 20 calls of 100 ms: 80 ms of work, of which the stage "heavy" has 60. As a file, since readings
 * are args of rows. */
static void busy(void)
{
    all.file = fopen(scratch("energy.json"), "w");
    REQUIRE(all.file != NULL);
    fprintf(all.file, "{\"strata_timeline\": 1, \"traceEvents\": [\n");
    for (int i = 0; i < 20; i++) {
        stage("heavy", 2 * i + 1, i * 100000.0, 60000, 60000);
        stage("light", 2 * i + 2, i * 100000.0 + 60200, 30000, 20000);
    }
}

static void reads(const char *name, double us, double value)
{
    fprintf(all.file,
            "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":9,\"tid\":9,\"ts\":%.1f,"
            "\"args\":{\"value\":%.3f}},\n",
            name, us, value);
}

static struct trace *end(void)
{
    struct trace *t = NULL;
    span("cuda_runtime", "cudaGetDevice", 1999000, 10, "");
    fprintf(all.file, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{}}]}");
    fclose(all.file);
    CHECK_EQ_INT(import_open(scratch("energy.json"), NULL, &t, NULL), 0);
    return t;
}

static const struct energy *look(void)
{
    all.t = end();
    arena_init(&all.mem);
    context_init(&all.cx, all.t, &all.mem);
    CHECK_EQ_INT(context_need(&all.cx, &energy_pass, NULL), 0);
    return energy_of(&all.cx);
}

static void done(void)
{
    context_done(&all.cx);
    arena_done(&all.mem);
    trace_free(all.t);
}

TEST(a_counter_is_shared_by_steps_and_stages)
{
    busy();
    for (int i = 0; i <= 4; i++) reads("GPU 0 energy (J)", i * 500000.0, 7000 + i * 250.0);
    for (int i = 0; i <= 20; i++) reads("GPU 0 power (W)", i * 100000.0, 400);
    const struct energy *x = look();
    CHECK_EQ_INT(x->by, ENERGY_BY_COUNTER);
    CHECK_EQ_UINT(x->devices, 1);
    CHECK_NEAR(x->mean_w, 500, 1);
    CHECK_NEAR(x->joules, 1000, 20);
    CHECK_NEAR(x->per_step, 50, 1);
    CHECK_NEAR((double)x->every_ns, 5e8, 1);
    REQUIRE(x->n_stages == 2);
    CHECK_EQ_STR(x->stages[0].stage->path, "heavy");
    CHECK_NEAR(x->stages[0].per_call, 30, 0.1);
    CHECK_NEAR(x->stages[1].per_call, 10, 0.1);
    done();
}

TEST(without_a_counter_power_is_added_up)
{
    busy();
    for (int i = 0; i <= 20; i++) reads("GPU 0 power (W)", i * 100000.0, i < 10 ? 200 : 400);
    const struct energy *x = look();
    CHECK_EQ_INT(x->by, ENERGY_BY_POWER);
    CHECK_NEAR(x->mean_w, 300, 10);
    CHECK_NEAR(x->most_w, 400, 0.1);
    CHECK_NEAR((double)x->every_ns, 1e8, 1);
    REQUIRE(x->n_power == 1); /* what the page draws */
    CHECK_EQ_UINT(x->power[0].n, 21);
    CHECK_NEAR(x->power[0].readings[20].value, 400, 0.1);
    done();
}

/* The recording goes on long after the last reading. */
TEST(readings_of_a_part_say_nothing_of_all)
{
    busy();
    for (int i = 0; i <= 5; i++) reads("GPU 0 power (W)", i * 100000.0, 300);
    CHECK_EQ_UINT(look()->devices, 0);
    done();
}

TEST(a_trace_without_readings_has_none)
{
    busy();
    const struct energy *x = look();
    CHECK_EQ_UINT(x->devices, 0);
    CHECK(isnan(x->per_step));
    done();
}

static int everything(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &energy_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    busy();
    for (int i = 0; i <= 20; i++) reads("GPU 0 power (W)", i * 100000.0, 300);
    struct trace *t = end();
    CHECK_EVERY_ALLOC(everything, t);
    trace_free(t);
}

TEST_MAIN
