/* test_repeats.c: what a program repeats, and whether enough of it was seen. */
#include "record/repeats.h"

#include "test.h"

#define MS 1000000u

static bool steady(const struct repeat_times *t)
{
    bool yes;
    repeat_usual(t, &yes);
    return yes;
}

TEST(twenty_calls_that_are_alike_are_enough)
{
    struct repeat_times t = {.name = 1};
    repeat_add(&t, 900 * MS); /* cold */
    for (int i = 1; i < 19; i++) repeat_add(&t, 50 * MS + (unsigned)i % 3 * MS);
    CHECK(!steady(&t));
    repeat_add(&t, 50 * MS);
    CHECK(steady(&t));
}

TEST(calls_of_very_different_lengths_never_are)
{
    struct repeat_times t = {.name = 1};
    for (int i = 0; i < 100; i++) repeat_add(&t, (unsigned)(10 + i % 7 * 15) * MS);
    CHECK(!steady(&t));
}

/* Videos: three warm ones of four seconds say what a fourth would. */
TEST(few_long_calls_are_enough)
{
    struct repeat_times t = {.name = 1};
    repeat_add(&t, 30000u * (uint64_t)MS);
    for (int i = 0; i < 2; i++) repeat_add(&t, 4000u * (uint64_t)MS);
    CHECK(!steady(&t));
    repeat_add(&t, 4100u * (uint64_t)MS);
    CHECK(steady(&t));
}

TEST(the_median_is_of_the_last_calls)
{
    struct repeat_times t = {.name = 1};
    bool yes;
    for (int i = 0; i < 40; i++) repeat_add(&t, 10 * MS);
    for (int i = 0; i < 40; i++) repeat_add(&t, 30 * MS);
    CHECK_EQ_INT(repeat_usual(&t, &yes), 30 * MS);
}

/* The unit is what most of the time was spent in, not what is called most often. */
TEST(the_unit_is_where_the_time_goes)
{
    struct repeats_seen *seen = repeats_watch();
    for (unsigned i = 0; i < 50; i++) {
        for (unsigned k = 0; k < 10; k++) repeats_saw(3, 1000u * MS * i, 1000u * MS * i + 10 * MS);
        repeats_saw(4, 1000u * MS * (uint64_t)i, 1000u * MS * (uint64_t)i + 500 * MS);
    }
    CHECK_EQ_INT(atomic_load(&seen->name), 4);
    CHECK_EQ_INT(atomic_load(&seen->n), 50);
    CHECK(atomic_load(&seen->steady));
}

TEST_MAIN
