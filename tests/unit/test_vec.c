/* test_vec.c: growing keeps the contents, and a failure keeps the array. */
#include "base/vec.h"

#include "test.h"

TEST(grows_and_keeps)
{
    int *items = NULL;
    size_t n = 0, cap = 0;
    for (int i = 0; i < 10000; i++) {
        REQUIRE(!VEC_RESERVE(items, n, cap, 1));
        items[n++] = i;
    }
    for (int i = 0; i < 10000; i++) REQUIRE(items[i] == i);
    CHECK(cap >= n && cap < 2 * n);
    mem_free(items);
}

TEST(a_batch_fits_at_once)
{
    char *items = NULL;
    size_t n = 3, cap = 0;
    REQUIRE(!VEC_RESERVE(items, n, cap, 1000));
    CHECK(cap >= 1003);
    memset(items, 1, cap);
    mem_fail_at(1);
    CHECK(!VEC_RESERVE(items, n, cap, 1000));
    CHECK_EQ_INT(mem_count(), 0);
    mem_free(items);
}

TEST(failure_leaves_the_array)
{
    long *items = NULL;
    size_t n = 0, cap = 0;
    REQUIRE(!VEC_RESERVE(items, n, cap, 4));
    long *before = items;
    size_t cap_before = cap;
    n = cap;
    mem_fail_at(1);
    CHECK(VEC_RESERVE(items, n, cap, 1));
    mem_fail_at(0);
    CHECK(items == before);
    CHECK_EQ_UINT(cap, cap_before);
    CHECK(VEC_RESERVE(items, n, cap, SIZE_MAX / 2));
    CHECK_EQ_UINT(cap, cap_before);
    mem_free(items);
}

TEST_MAIN
