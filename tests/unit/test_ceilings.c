/* test_ceilings.c: what a GPU reaches: datasheets by name, measured rates from a file. */
#include "dive/ceilings.h"
#include "test.h"

static struct ceilings datasheet(const char *gpu)
{
    struct ceilings c;
    ceilings_init(&c, str_c(gpu));
    ceilings_from_datasheet(&c);
    return c;
}

TEST(datasheets_by_name)
{
    CHECK_NEAR(datasheet("NVIDIA H200").memory.per_s, 4.8e12, 1);
    CHECK_NEAR(datasheet("NVIDIA H100 80GB HBM3").memory.per_s, 3.35e12, 1e3);
    CHECK_NEAR(datasheet("NVIDIA H100 PCIe").memory.per_s, 2e12, 1);
    CHECK_NEAR(datasheet("NVIDIA A100-SXM4-80GB").memory.per_s, 2.04e12, 1e3);
    CHECK_NEAR(datasheet("NVIDIA A100-SXM4-40GB").memory.per_s, 1.56e12, 1e3);
    CHECK_NEAR(datasheet("NVIDIA L4").memory.per_s, 0.3e12, 1);
    CHECK_NEAR(datasheet("NVIDIA L40S").compute[HALF].per_s, 362e12, 1e6);
    CHECK_NEAR(datasheet("NVIDIA GeForce RTX 4090").compute[FP32].per_s, 82.6e12, 1e6);
    CHECK_EQ_INT(datasheet("NVIDIA H200").compute[FP8].from, CEILING_DATASHEET);
    CHECK_EQ_INT(datasheet("Some other GPU").memory.from, CEILING_NONE);
    CHECK_EQ_INT(datasheet("NVIDIA A100-SXM4-80GB").compute[FP8].from, CEILING_NONE);
}

TEST(measured_rates_win)
{
    struct arena mem;
    struct err e;
    struct ceilings c;
    arena_init(&mem);
    err_init(&e);
    ceilings_init(&c, str_c("NVIDIA H200"));
    const char *text = "{\"gpu\": \"NVIDIA H200\", \"memory_gb_per_s\": 4300, "
                       "\"bf16_tflop_per_s\": 790, \"fp32_tflop_per_s\": -1}";
    REQUIRE(ceilings_read(&c, str_c(text), &mem, &e) == 0);
    ceilings_from_datasheet(&c);
    CHECK_NEAR(c.memory.per_s, 4.3e12, 1);
    CHECK_EQ_INT(c.memory.from, CEILING_MEASURED);
    CHECK_EQ_INT(c.compute[FP32].from, CEILING_DATASHEET);
    CHECK_NEAR(ceilings_ridge(&c, HALF), 790.0 / 4.3, 0.01);
    CHECK_NEAR(ceilings_roof(&c, HALF, 10), 43e12, 1e6);
    CHECK_NEAR(ceilings_roof(&c, HALF, 1000), 790e12, 1e6);
    CHECK(isnan(ceilings_ridge(&c, PRECISIONS)));
    arena_done(&mem);
}

TEST(files_of_others)
{
    static const char *const texts[] = {"", "[]", "{}", "{\"gpu\": 5}", "{\"gpu\": \"NVIDIA L4\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena mem;
        struct err e;
        struct ceilings c;
        arena_init(&mem);
        err_init(&e);
        ceilings_init(&c, str_c("NVIDIA H200"));
        CHECK(ceilings_read(&c, str_c(texts[i]), &mem, &e) < 0);
        CHECK(e.msg[0] != 0);
        arena_done(&mem);
    }
}

static const char *path_of(const char *gpu, struct arena *mem)
{
    const char *path = "?";
    CHECK_EQ_INT(ceilings_path(str_c(gpu), mem, &path, NULL), 0);
    return path;
}

TEST(where_they_are_kept)
{
    struct arena mem;
    arena_init(&mem);
    setenv("XDG_CACHE_HOME", "/c", 1);
    CHECK_EQ_STR(path_of("NVIDIA H200", &mem), "/c/strata/ceilings_NVIDIA_H200.json");
    CHECK_EQ_STR(path_of("../../etc/x", &mem), "/c/strata/ceilings_______etc_x.json");
    CHECK(path_of("", &mem) == NULL);
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/h", 1);
    CHECK_EQ_STR(path_of("T4", &mem), "/h/.cache/strata/ceilings_T4.json");
    arena_done(&mem);
}

TEST_MAIN
