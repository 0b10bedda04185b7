/* test_ceilings.c: what a GPU reaches: the table by name, measured rates from a file. */
#include "analyze/kernels/ceilings.h"
#include "test.h"

static struct ceilings of(const char *gpu)
{
    struct ceilings c;
    ceilings_init(&c, str_c(gpu));
    ceilings_from_table(&c);
    return c;
}

/* As measured on an H200; the others in their order. */
TEST(the_table_by_name)
{
    CHECK_NEAR(of("NVIDIA H200").memory.per_s, 4.27e12, 1e3);
    CHECK_NEAR(of("NVIDIA H200").compute[TF32].per_s, 384e12, 1e6);
    CHECK(of("NVIDIA H100 80GB HBM3").memory.per_s > of("NVIDIA H100 PCIe").memory.per_s);
    CHECK(of("NVIDIA A100-SXM4-80GB").memory.per_s > of("NVIDIA A100-SXM4-40GB").memory.per_s);
    CHECK(of("NVIDIA L40S").compute[HALF].per_s > 2 * of("NVIDIA L4").compute[HALF].per_s);
    CHECK(of("NVIDIA GeForce RTX 4090").compute[FP32].per_s > 0);
    CHECK(of("AMD Instinct MI300X").memory.per_s > of("AMD Instinct MI250X/MI250").memory.per_s);
    CHECK_EQ_INT(of("NVIDIA H200").compute[FP8].from, CEILING_TABLE);
    CHECK_EQ_INT(of("NVIDIA H200").attention.from, CEILING_TABLE);
    CHECK_EQ_INT(of("Some other GPU").memory.from, CEILING_NONE);
    CHECK_EQ_INT(of("NVIDIA H200").n_sms, 132);
    CHECK_EQ_INT(of("NVIDIA L4").n_sms, 58);
    CHECK_EQ_INT(of("Some other GPU").n_sms, 0);
    CHECK_EQ_INT(of("NVIDIA A100-SXM4-80GB").compute[FP8].from, CEILING_NONE);
}

TEST(a_generation_stands_in_for_its_gpus)
{
    struct ceilings c = of("Some other GPU");
    ceilings_from_generation(&c, 9);
    CHECK(c.memory.per_s > 1e12 && c.compute[HALF].per_s > 1e14);
    c = of("NVIDIA H200");
    ceilings_from_generation(&c, 7); /* what is known stays */
    CHECK_NEAR(c.memory.per_s, 4.27e12, 1e3);
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
    ceilings_from_table(&c);
    CHECK_NEAR(c.memory.per_s, 4.3e12, 1);
    CHECK_EQ_INT(c.memory.from, CEILING_MEASURED);
    CHECK_EQ_INT(c.compute[FP32].from, CEILING_TABLE);
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
