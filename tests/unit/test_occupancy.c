/* test_occupancy.c: values an H200 reported for the same launches, and what it reports 0 for. */
#include "analyze/kernels/occupancy.h"
#include "test.h"

static const struct device h200 = {.n_sms = 132,
                                   .warp_size = 32,
                                   .major = 9,
                                   .max_threads_per_sm = 2048,
                                   .regs_per_sm = 65536,
                                   .shared_per_sm = 233472};

static void check(uint32_t grid, uint32_t block, int registers, int shared, double pct,
                  const char *limit)
{
    struct gpu_info g = {.grid = {grid, 1, 1},
                         .block = {block, 1, 1},
                         .registers = (uint16_t)registers,
                         .shared_bytes = (uint32_t)shared};
    struct occupancy o;
    if (!CHECK(occupancy_of(&h200, &g, &o))) return;
    CHECK_NEAR(o.pct, pct, 0.5);
    CHECK_EQ_STR(occupancy_limit_name(o.limit), limit);
}

TEST(as_the_device_reports)
{
    check(18432, 128, 18, 0, 100, "threads");
    check(8192, 128, 34, 0, 75, "registers");
    check(512, 512, 54, 12288, 50, "registers");
    check(73728, 64, 48, 512, 63, "registers");
    check(2048, 128, 32, 24, 97, "grid");
    check(256, 512, 30, 8192, 48, "grid");
}

TEST(kernels_with_extended_launches)
{
    check(132, 384, 168, 213188, 19, "registers");
    check(128, 384, 168, 213220, 18, "grid");
    check(1000, 128, 32, 113000, 12.5, "shared memory");
}

TEST(what_cannot_be_known)
{
    struct gpu_info g = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct gpu_info no_launch = {.registers = 8};
    struct device unknown = {.n_sms = 0};
    struct occupancy o;
    CHECK(!occupancy_of(NULL, &g, &o));
    CHECK(!occupancy_of(&unknown, &g, &o));
    CHECK(!occupancy_of(&h200, &no_launch, &o));
    struct gpu_info too_large = {.grid = {1, 1, 1}, .block = {UINT32_MAX, UINT32_MAX, 2}};
    CHECK(!occupancy_of(&h200, &too_large, &o));
}

TEST_MAIN
