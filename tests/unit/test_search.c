/* test_search.c: the first index past those for which something holds. */
#include "base/search.h"

#include <stdint.h>

#include "test.h"

static const int64_t sorted[] = {1, 3, 3, 3, 7, 9};

enum { N = sizeof sorted / sizeof *sorted };

static uint32_t not_below(uint32_t n, int64_t v)
{
    uint32_t i = 0;
    SEARCH_PAST(i, n, sorted[i] < v);
    return i;
}

TEST(every_value_is_found_in_every_prefix)
{
    for (uint32_t n = 0; n <= N; n++) {
        for (int64_t v = 0; v <= 10; v++) {
            uint32_t slow = 0;
            while (slow < n && sorted[slow] < v) slow++;
            CHECK_EQ_UINT(not_below(n, v), slow);
        }
    }
}

TEST(a_search_may_begin_anywhere)
{
    size_t i = 2;
    SEARCH_PAST(i, (size_t)N, sorted[i] <= 3);
    CHECK_EQ_UINT(i, 4);
    i = 5;
    SEARCH_PAST(i, 3u, sorted[i] < 100);
    CHECK_EQ_UINT(i, 5);
}

TEST(large_indexes_do_not_overflow)
{
    uint32_t i = UINT32_MAX - 10;
    SEARCH_PAST(i, UINT32_MAX, i < UINT32_MAX - 3);
    CHECK_EQ_UINT(i, UINT32_MAX - 3);
}

TEST(the_end_is_evaluated_once)
{
    uint32_t i = 0, asked = 0;
    SEARCH_PAST(i, (asked++, (uint32_t)N), sorted[i] < 9);
    CHECK_EQ_UINT(i, 5);
    CHECK_EQ_UINT(asked, 1);
}

TEST_MAIN
