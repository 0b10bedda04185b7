/* test_stats.c: what median and percentile mean, and sorting against the library's. */
#include "base/stats.h"

#include "test.h"

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void check_sorting(uint32_t n, int64_t (*value)(uint64_t))
{
    int64_t *got = calloc(n + 1, sizeof *got), *want = calloc(n + 1, sizeof *want);
    uint64_t seed = n;
    for (uint32_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        got[i] = want[i] = value(seed);
    }
    stats_sort(got, n);
    qsort(want, n, sizeof *want, ascending);
    CHECK(memcmp(got, want, n * sizeof *got) == 0);
    free(got);
    free(want);
}

static int64_t any(uint64_t seed)
{
    return (int64_t)(seed ^ seed >> 31);
}

static int64_t small(uint64_t seed)
{
    return (int64_t)(seed >> 50) - 100;
}

static int64_t same(uint64_t seed)
{
    return -7;
}

TEST(short_and_long_arrays_of_either_sign)
{
    static const uint32_t sizes[] = {0, 1, 2, 1023, 1024, 1025, 50000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_sorting(sizes[i], any);
        check_sorting(sizes[i], small);
        check_sorting(sizes[i], same);
    }
}

TEST(without_memory_it_sorts_all_the_same)
{
    mem_fail_at(1);
    check_sorting(5000, any);
    mem_fail_at(0);
}

TEST(median_and_percentiles)
{
    static const int64_t v[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 100};
    CHECK_EQ_INT(stats_median(v, 0), 0);
    CHECK_EQ_INT(stats_median(v, 1), 1);
    CHECK_EQ_INT(stats_median(v, 2), 1); /* rounded down */
    CHECK_EQ_INT(stats_median(v, 3), 2);
    CHECK_EQ_INT(stats_median(v, 10), 5);
    CHECK_EQ_INT(stats_percentile(v, 0, 95), 0);
    CHECK_EQ_INT(stats_percentile(v, 10, 95), 100);
    CHECK_EQ_INT(stats_percentile(v, 10, 90), 9);
    CHECK_EQ_INT(stats_percentile(v, 10, 0), 1);
    CHECK_EQ_INT(stats_percentile(v, 4, 95), 4);
}

TEST(a_share_of_nothing_is_none)
{
    CHECK_NEAR(stats_pct(1, 4), 25, 0);
    CHECK_NEAR(stats_pct(-1, 4), -25, 0);
    CHECK_NEAR(stats_pct(3, 0), 0, 0);
    CHECK_NEAR(stats_pct(3, -1), 0, 0);
}

TEST_MAIN
