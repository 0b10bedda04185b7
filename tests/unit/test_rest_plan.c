/* test_rest_plan.c: when the recorder rests in a long run, and when it wakes. */
#include "backend/rest.h"

#include "test.h"

#define S ((uint64_t)1000000000)

/* A program seen twenty times per second: `each_ns` per unit, from a moment on. */
struct program {
    struct rest_plan plan;
    uint64_t now_ns, each_ns, recorded_ns, rested_ns;
    bool steady, held, named;
};

static struct program program_of(uint64_t each_ns, bool steady)
{
    return (struct program){.plan = {.scale = 1},
                            .now_ns = 5 * S,
                            .each_ns = each_ns,
                            .steady = steady,
                            .named = each_ns > 0};
}

static bool look(struct program *p)
{
    struct rest_look k = {.now_ns = p->now_ns, .works = true, .held = p->held};
    if (p->named) {
        k.name = 7;
        k.n = (uint32_t)((p->now_ns - 5 * S) / p->each_ns);
        k.usual_ns = p->each_ns;
        k.steady = p->steady;
    }
    return rest_plan_look(&p->plan, &k);
}

static void go_on(struct program *p, uint64_t seconds)
{
    for (uint64_t i = 0; i < seconds * 20; i++) {
        bool rests = look(p);
        p->now_ns += S / 20;
        *(rests ? &p->rested_ns : &p->recorded_ns) += S / 20;
    }
}

TEST(nothing_rests_before_there_is_work)
{
    struct rest_plan plan = {.scale = 1};
    struct rest_look k = {.now_ns = 100 * S};
    CHECK(!rest_plan_look(&plan, &k));
    k.now_ns = 1000 * S;
    CHECK(!rest_plan_look(&plan, &k));
}

TEST(a_short_run_is_recorded_throughout)
{
    struct program p = program_of(S / 20, true);
    go_on(&p, 10);
    CHECK_EQ_INT(p.rested_ns, 0);
}

/* Ten minutes of a steady program: some twenty seconds of them in a dozen parts. */
TEST(ten_minutes)
{
    struct program p = program_of(S / 20, true);
    go_on(&p, 600);
    CHECK(p.recorded_ns > 15 * S);
    CHECK(p.recorded_ns < 24 * S);
    CHECK(p.plan.n_rests >= 9 && p.plan.n_rests <= 13);
}

TEST(units_that_are_not_steady_are_recorded_for_longer)
{
    struct program p = program_of(S / 20, false);
    go_on(&p, 29);
    CHECK_EQ_INT(p.rested_ns, 0);
    go_on(&p, 571);
    CHECK(p.recorded_ns < 45 * S);
}

/* A unit that takes longer than a second is recorded whole, twice. */
TEST(long_units_are_recorded_whole)
{
    struct program p = program_of(4 * S, true);
    go_on(&p, 20);
    uint64_t before = p.recorded_ns;
    REQUIRE(p.plan.n_rests == 1);
    while (p.plan.n_rests == 1) go_on(&p, 1);
    CHECK(p.recorded_ns - before >= 8 * S);
}

TEST(a_program_without_units_is_seen_for_a_second_at_a_time)
{
    struct program p = program_of(0, false);
    go_on(&p, 42);
    CHECK_EQ_INT(p.plan.n_rests, 2); /* after 30 s, and after one second more */
    CHECK(p.plan.resting);
}

TEST(it_wakes_when_units_take_another_time)
{
    struct program p = program_of(S / 20, true);
    go_on(&p, 60);
    while (!p.plan.resting) go_on(&p, 1);
    uint32_t rests = p.plan.n_rests;
    p.each_ns = S / 10;
    go_on(&p, 11);
    CHECK(!p.plan.resting || p.plan.n_rests > rests);
}

TEST(what_must_be_recorded_wakes_it_and_keeps_it_awake)
{
    struct program p = program_of(S / 20, true);
    go_on(&p, 12);
    REQUIRE(p.plan.resting);
    p.held = true;
    CHECK(!look(&p));
    uint64_t rested = p.rested_ns;
    go_on(&p, 100);
    CHECK_EQ_INT(p.rested_ns, rested);
    p.held = false;
    go_on(&p, 3);
    CHECK(p.plan.resting);
}

TEST_MAIN
