/* test_pulse.c: when silence means that somebody else has the records, and when it does not. */
#include "backend/cuda/cuda_private.h"

#include "test.h"

enum { LOOK_MS = 100 };

/* A look every 100 ms; each time `launches` more calls, of which all but `running` were waited for.
 */
static int looks_until_lost(uint64_t launches, uint64_t running, uint64_t signs_each)
{
    struct pulse p = {0};
    for (int i = 1; i <= 100; i++) {
        struct pulse_look look = {
            .launched = launches * (uint64_t)i,
            .waited_for = launches * (uint64_t)i - (launches ? running : 0),
            .signs = 7 + signs_each * (uint64_t)i,
            .now_ns = (uint64_t)i * LOOK_MS * 1000000,
        };
        if (pulse_is_lost(&p, &look)) return i;
    }
    return 0;
}

TEST(launches_that_were_waited_for_and_no_sign)
{
    int n = looks_until_lost(3, 0, 0);
    CHECK(n >= 10 && n <= 12); /* a second */
    CHECK_EQ_INT(looks_until_lost(1000, 10, 0), n);
}

TEST(signs_of_life)
{
    CHECK_EQ_INT(looks_until_lost(3, 0, 1), 0);
}

TEST(nothing_was_launched)
{
    CHECK_EQ_INT(looks_until_lost(0, 0, 0), 0);
}

TEST(nothing_launched_since_was_waited_for)
{
    CHECK_EQ_INT(looks_until_lost(3, 3, 0), 0);
}

TEST(one_sign_begins_anew)
{
    struct pulse p = {0};
    struct pulse_look look = {.signs = 1};
    for (int i = 1; i <= 60; i++) {
        look.now_ns += LOOK_MS * 1000000;
        look.launched = look.waited_for += 2;
        if (i % 8 == 0) look.signs++;
        CHECK(!pulse_is_lost(&p, &look));
    }
}

TEST(at_the_end_one_miss_is_enough)
{
    struct pulse p = {0};
    struct pulse_look look = {.launched = 5, .waited_for = 5, .signs = 1, .now_ns = 1000};
    CHECK(!pulse_is_lost(&p, &look));
    look.last = true;
    CHECK(!pulse_is_lost(&p, &look)); /* nothing since */
    look.launched = look.waited_for = 6;
    CHECK(pulse_is_lost(&p, &look));
}

TEST(calls_are_counted)
{
    struct pulse_look before = pulse_count();
    pulse_launch(1);
    pulse_launch(1);
    CHECK_EQ_UINT(pulse_count().launched, before.launched + 2);
    CHECK_EQ_UINT(pulse_count().waited_for, before.waited_for);
    pulse_wait();
    CHECK_EQ_UINT(pulse_count().waited_for, before.launched + 2);
}

/* A snapshot waits for the record of the last launch. */
TEST(records_reach_launches)
{
    pulse_launch(7);
    CHECK_EQ_UINT(atomic_load(&pulse_newest_launch), 7);
    pulse_record(6);
    CHECK(pulse_has_reached(6) && !pulse_has_reached(7));
    pulse_record(8);
    pulse_record(5); /* of another stream */
    CHECK(pulse_has_reached(7) && pulse_has_reached(8) && !pulse_has_reached(9));
    pulse_record(0x7ffffff0);
    pulse_record(0xe0000000);
    CHECK(!pulse_has_reached(3)); /* numbers begin again */
    pulse_record(4);
    CHECK(pulse_has_reached(3));
}

TEST(launches_into_a_graph_are_none)
{
    uint64_t before = pulse_count().launched;
    pulse_capture(false); /* of one that began before us */
    pulse_capture(true);
    pulse_capture(true);
    pulse_launch(1);
    pulse_capture(false);
    pulse_launch(1);
    CHECK_EQ_UINT(pulse_count().launched, before);
    pulse_capture(false);
    pulse_launch(1);
    CHECK_EQ_UINT(pulse_count().launched, before + 1);
}

TEST_MAIN
