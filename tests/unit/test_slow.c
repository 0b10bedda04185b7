/* test_slow.c: when a stage counts as far slower than usual. */
#include "record/slow.h"

#include "test.h"

#define MS 1000000

static bool add_many(struct slow_times *t, int n, int64_t ns)
{
    bool slow = false;
    for (int i = 0; i < n; i++) slow |= slow_add(t, ns, 1.5);
    return slow;
}

TEST(a_call_far_above_the_median_is_slow)
{
    struct slow_times t = {.name = 1};
    CHECK(!add_many(&t, 2, 900 * MS)); /* cold */
    CHECK(!add_many(&t, 10, 10 * MS));
    CHECK_EQ_INT(t.median_ns, 10 * MS);
    CHECK(!slow_add(&t, 14 * MS, 1.5));
    CHECK(slow_add(&t, 16 * MS, 1.5));
    CHECK(!slow_add(&t, 10 * MS, 1.5));
}

/* Nothing is known of a stage that has run a few times only. */
TEST(the_first_calls_are_not_judged)
{
    struct slow_times t = {.name = 1};
    CHECK(!add_many(&t, 6, 10 * MS));
    CHECK(!slow_add(&t, 500 * MS, 1.5));
}

TEST(a_difference_of_microseconds_is_nothing)
{
    struct slow_times t = {.name = 1};
    add_many(&t, 20, 10000);
    CHECK(!slow_add(&t, 500000, 1.5));
    CHECK(slow_add(&t, 2 * MS, 1.5));
}

/* What has become the rule is not told of for ever. */
TEST(the_median_follows)
{
    struct slow_times t = {.name = 1};
    add_many(&t, 20, 10 * MS);
    CHECK(slow_add(&t, 30 * MS, 1.5));
    add_many(&t, 40, 30 * MS);
    CHECK(!slow_add(&t, 31 * MS, 1.5));
}

TEST_MAIN
