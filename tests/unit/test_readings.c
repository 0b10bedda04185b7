/* test_readings.c: rates and times that were measured elsewhere, whole and broken. */
#include "base/file.h"
#include "offload/facts.h"
#include "test.h"

static char path[64];

static const char *write_file(const char *text)
{
    snprintf(path, sizeof path, "test_readings.%d", (int)getpid());
    CHECK_EQ_INT(file_write_whole(path, text, strlen(text), NULL), 0);
    return path;
}

typedef int read_fn(const char *path, struct arena *mem, struct facts *f, struct err *e);

static int read_text(read_fn *fn, const char *text, struct facts *f, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = fn(write_file(text), &mem, f, e);
    arena_done(&mem);
    unlink(path);
    return rc;
}

TEST(rates)
{
    struct facts f = {.rate = {[HOST_PAGEABLE] = {.bytes_per_ns = 9, .from = FACT_MEASURED}}};
    CHECK_EQ_INT(
        read_text(readings_rates,
                  "{\"device\": \"x\", \"rates\": {\"pageable\": {\"gb_per_s\": 7},"
                  "\"pinned\": {\"gb_per_s\": 20.5, \"p10_gb_per_s\": 19, \"from\": \"measured\"},"
                  "\"to_host\": {\"gb_per_s\": 12}}, \"first_touch_gb_per_s\": 1.5}",
                  &f, NULL),
        0);
    CHECK_NEAR(f.rate[HOST_PINNED].bytes_per_ns, 20.5, 1e-9);
    CHECK_NEAR(f.rate[HOST_PINNED].low, 19, 1e-9);
    CHECK_EQ_INT(f.rate[HOST_PINNED].from, FACT_MEASURED);
    CHECK_NEAR(f.rate[HOST_PAGEABLE].bytes_per_ns, 9, 1e-9); /* what the trace measured stays */
    CHECK_NEAR(f.back.bytes_per_ns, 1.5, 1e-9);              /* new memory is slower */
    /* and what the trace copied back is not capped */
    f.back = (struct facts_rate){.bytes_per_ns = 4, .from = FACT_MEASURED};
    CHECK_EQ_INT(read_text(readings_rates,
                           "{\"rates\": {\"to_host\": {\"gb_per_s\": 12}},"
                           "\"first_touch_gb_per_s\": 1.5}",
                           &f, NULL),
                 0);
    CHECK_NEAR(f.back.bytes_per_ns, 4, 1e-9);
}

TEST(what_is_no_calibration)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"rates\": 7}",
        "{\"rates\": {\"pinned\": {\"gb_per_s\": 0}}}",
        "{\"rates\": {\"pinned\": {\"gb_per_s\": 1e9}}}",
        "{\"rates\": {\"pinned\": {\"gb_per_s\": 1e-300}}}",
        "{\"rates\": {\"pinned\": {\"gb_per_s\": 5, \"p10_gb_per_s\": -1}}}",
        "{\"rates\": {\"pinned\": {\"gb_per_s\": 5, \"p10_gb_per_s\": 1e308}}}",
        "{\"rates\": {\"pinned\": {\"gb_per_s\": 5}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct facts f = {0};
        struct err e;
        err_init(&e);
        CHECK_EQ_INT(read_text(readings_rates, bad[i], &f, &e), ERR_FORMAT);
        CHECK(strstr(e.msg, "not a calibration") != NULL);
    }
}

TEST(a_stage_alone)
{
    struct facts f = {0};
    CHECK_EQ_INT(read_text(readings_bench,
                           "{\"times\": {\"gpu\": {\"median_ms\": 20.5},"
                           "\"wall\": {\"median_ms\": 21.25}}}",
                           &f, NULL),
                 0);
    CHECK_EQ_INT(f.compute_ns, 21250000);
    CHECK_EQ_INT(
        read_text(readings_bench, "{\"times\": {\"gpu\": {\"median_ms\": 20.5}}}", &f, NULL), 0);
    CHECK_EQ_INT(f.compute_ns, 20500000);
    CHECK_EQ_INT(read_text(readings_bench, "{\"times\": {\"wall\": {}}}", &f, NULL), ERR_FORMAT);
    CHECK_EQ_INT(readings_bench("/nowhere/at/all", NULL, &f, NULL), ERR_IO);
}

static int read_again(void *ctx)
{
    struct arena mem;
    struct facts f = {0};
    (void)ctx;
    arena_init(&mem);
    int rc = readings_rates(path, &mem, &f, NULL);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    write_file("{\"rates\": {\"pinned\": {\"gb_per_s\": 5}}}");
    CHECK_EVERY_ALLOC(read_again, NULL);
    unlink(path);
}

TEST_MAIN
