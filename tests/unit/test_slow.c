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

/* Requests and other named stages go before what is inside them, and the largest factor wins. */
TEST(what_says_more_does_not_wait)
{
    const uint64_t s = 1000 * (uint64_t)MS;
    struct slow_report none = {0}, inner = {s, SLOW_INNER, 19.5};
    CHECK(slow_is_due(&none, &inner));
    CHECK(slow_is_due(&inner, &(struct slow_report){2 * s, SLOW_OUTERMOST, 2.0}));
    CHECK(slow_is_due(&inner, &(struct slow_report){2 * s, SLOW_INNER, 43.0}));
    CHECK(!slow_is_due(&inner, &(struct slow_report){2 * s, SLOW_INNER, 19.0}));
    CHECK(!slow_is_due(&inner, &(struct slow_report){2 * s, SLOW_DERIVED, 100.0}));
    CHECK(slow_is_due(&inner, &(struct slow_report){7 * s, SLOW_DERIVED, 2.0}));
}

TEST(times_read_as_in_reports)
{
    char text[200];
    struct slow_call c = {1752 * (int64_t)MS, 40 * MS, false};
    slow_text(text, sizeof text, str_c("dec\node"), &c);
    CHECK_EQ_STR(text, "dec ode took 1.75 s, 43.8 times its median of 40.0 ms");
    c = (struct slow_call){999400000, 999600000, true};
    slow_text(text, sizeof text, str_c("a"), &c);
    CHECK_EQ_STR(text, "a took 999 ms with what came before it, 1.0 times its median of 1.00 s");
}

TEST_MAIN
