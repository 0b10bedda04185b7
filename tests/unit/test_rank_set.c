/* test_rank_set.c: collectives of many ranks: matching, clocks, who came last, who is to blame. */
#include "analyze/ranks/rank_set.h"

#include <math.h>

#include "test.h"

#define US 1000

/* Ranks made by hand: each has room for a few events. */
struct fixture {
    struct arena mem;
    struct rank_summary list[8];
    uint32_t n;
    struct rank_set s;
};

static const char *const groups[] = {"0\nall\n", "1\ntp\n[0, 1]", "2\ntp\n[2, 3]"};
static const char *const names[] = {"all", "tp", "tp"};

static void setup(struct fixture *f, uint32_t n)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->mem);
    f->n = n;
    for (uint32_t i = 0; i < n; i++) {
        struct rank_summary *r = &f->list[i];
        *r = (struct rank_summary){
            .path = "x", .part = -1, .rank = (int)i, .world = (int)n, .from_ns = INT64_MIN};
        r->wall_ns = 10000 * US;
        r->step_ns = 1000 * US;
        r->events = arena_zalloc(&f->mem, 64, sizeof *r->events);
        r->groups = (const char **)groups;
        r->group_names = (const char **)names;
        r->n_groups = 3;
    }
}

static struct rank_event *add(struct fixture *f, uint32_t rank, uint32_t group, double begin_us,
                              double end_us)
{
    struct rank_summary *r = &f->list[rank];
    struct rank_event *e = &r->events[r->n_events++];
    *e = (struct rank_event){.begin_ns = (int64_t)(begin_us * US),
                             .end_ns = (int64_t)(end_us * US),
                             .group = group,
                             .what = COLLECTIVE_ALL_REDUCE,
                             .bytes = 1000,
                             .seq = -1};
    return e;
}

static void run(struct fixture *f)
{
    CHECK_EQ_INT(rank_set_run(f->list, f->n, &f->mem, &f->s, NULL), 0);
}

TEST(the_shortest_is_the_last_to_come)
{
    struct fixture f;
    setup(&f, 4);
    for (int i = 0; i < 5; i++)
        for (uint32_t r = 0; r < 4; r++)
            add(&f, r, 0, 1000 * i + (r == 2 ? 300 : 100), 1000 * i + 400);
    run(&f);
    REQUIRE(f.s.n_list == 5);
    CHECK_EQ_UINT(f.s.unmatched, 0);
    CHECK_EQ_UINT(f.s.list[0].members[f.s.list[0].last].rank, 2);
    CHECK_EQ_INT(f.s.list[0].transfer_ns, 100 * US);
    CHECK_EQ_INT(f.s.list[0].spread_ns, 200 * US);
    CHECK_EQ_INT(f.s.wait_ns[0], 5 * 200 * US);
    CHECK_EQ_INT(f.s.wait_ns[2], 0);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_UINT(f.s.stragglers[0].rank, 2);
    CHECK_EQ_INT(f.s.stragglers[0].late_ns, 5 * 200 * US);
    CHECK_EQ_UINT(f.s.stragglers[0].collectives, 5);
    arena_done(&f.mem);
}

TEST(nobody_is_blamed_for_microseconds)
{
    struct fixture f;
    setup(&f, 4);
    for (int i = 0; i < 5; i++)
        for (uint32_t r = 0; r < 4; r++) add(&f, r, 0, 1000 * i + 100 + 4 * r, 1000 * i + 400);
    run(&f);
    CHECK_EQ_UINT(f.s.n_stragglers, 0);
    arena_done(&f.mem);
}

/* Each rank is late once: the machine is busy, no rank is slow. */
TEST(ranks_that_come_late_in_turns_are_not_stragglers)
{
    struct fixture f;
    setup(&f, 4);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t r = 0; r < 4; r++)
            add(&f, r, 0, 1000 * i + (r == i % 4 ? 300 : 100), 1000 * i + 400);
    run(&f);
    CHECK_EQ_INT(f.s.wait_ns[0], 6 * 200 * US);
    CHECK_EQ_UINT(f.s.n_stragglers, 0);
    arena_done(&f.mem);
}

/* Two buckets on the way at once: the rank is late for both by the same delay. */
TEST(a_delay_before_two_collectives_counts_once)
{
    struct fixture f;
    setup(&f, 3);
    for (int i = 0; i < 4; i++)
        for (uint32_t r = 0; r < 3; r++) {
            double late = r == 1 ? 300 : 0;
            add(&f, r, 0, 2000 * i + 100 + late, 2000 * i + 500);
            add(&f, r, 0, 2000 * i + 110 + late, 2000 * i + 520);
        }
    run(&f);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_UINT(f.s.stragglers[0].rank, 1);
    CHECK_EQ_INT(f.s.stragglers[0].late_ns, 4 * 300 * US);
    arena_done(&f.mem);
}

/* Groups are matched one after the other; what happened is listed by time. */
TEST(collectives_are_in_the_order_of_their_ends)
{
    struct fixture f;
    setup(&f, 4);
    for (int i = 0; i < 4; i++)
        for (uint32_t r = 0; r < 4; r++) {
            add(&f, r, r < 2 ? 1 : 2, 1000 * i + 100, 1000 * i + 150);
            add(&f, r, 0, 1000 * i + 500, 1000 * i + 550);
        }
    run(&f);
    REQUIRE(CHECK_EQ_UINT(f.s.n_list, 12));
    for (uint32_t i = 1; i < f.s.n_list; i++) CHECK(f.s.list[i - 1].end_ns <= f.s.list[i].end_ns);
    arena_done(&f.mem);
}

TEST(of_two_ranks_one_can_be_late)
{
    struct fixture f;
    setup(&f, 2);
    for (int i = 0; i < 5; i++) {
        add(&f, 0, 0, 1000 * i + 100, 1000 * i + 400);
        add(&f, 1, 0, 1000 * i + 350, 1000 * i + 400);
    }
    run(&f);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_UINT(f.s.stragglers[0].rank, 1);
    CHECK_EQ_INT(f.s.stragglers[0].late_ns, 5 * 250 * US);
    arena_done(&f.mem);
}

/* Pairs 0 and 1, 2 and 3, then all: the path leads through the pair that all wait for. */
TEST(the_critical_path_goes_from_rank_to_rank)
{
    struct fixture f;
    setup(&f, 4);
    for (uint32_t r = 0; r < 2; r++) add(&f, r, 1, r ? 500 : 100, 600);
    for (uint32_t r = 2; r < 4; r++) add(&f, r, 2, 700, 710);
    for (uint32_t r = 0; r < 4; r++) add(&f, r, 0, r == 0 ? 2000 : 1000, 2100);
    run(&f);
    REQUIRE(f.s.n_path == 2);
    CHECK_EQ_UINT(
        f.s.list[f.s.path[0].collective].members[f.s.list[f.s.path[0].collective].last].rank, 1);
    CHECK_EQ_INT(f.s.path[0].own_ns, 500 * US);
    CHECK_EQ_INT(f.s.path[0].transfer_ns, 100 * US);
    CHECK_EQ_INT(f.s.path[1].own_ns, 1400 * US);
    CHECK_EQ_INT(f.s.path_own_ns[0], 1400 * US);
    CHECK_EQ_INT(f.s.path_own_ns[2] + f.s.path_own_ns[3], 0);
    arena_done(&f.mem);
}

/* Rank 0 starts slowly, and rank 1 is late to every step: the start-up is no part of the path, nor
 * of the waits. */
TEST(the_critical_path_begins_with_the_loop)
{
    struct fixture f;
    setup(&f, 2);
    add(&f, 0, 0, 5000, 5010);
    add(&f, 1, 0, 100, 5010);
    for (int i = 0; i < 3; i++) {
        add(&f, 0, 0, 5200 + 300 * i, 5490 + 300 * i);
        add(&f, 1, 0, 5480 + 300 * i, 5490 + 300 * i);
    }
    f.list[0].from_ns = f.list[1].from_ns = 5100 * US;
    run(&f);
    CHECK(f.s.list[0].early && !f.s.list[1].early);
    REQUIRE(f.s.n_path == 3);
    CHECK_EQ_INT(f.s.path[0].start_ns, 5100 * US);
    CHECK_EQ_INT(f.s.path_own_ns[0], 0);
    CHECK_EQ_INT(f.s.path_own_ns[1], (380 + 2 * 290) * US);
    CHECK_EQ_INT(f.s.wait_ns[0], 3 * 280 * US);
    CHECK_EQ_INT(f.s.wait_ns[1], 0);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_INT(f.s.stragglers[0].rank, 1);
    arena_done(&f.mem);
}

/* Where nothing but the start-up was recorded, it is looked at. */
TEST(a_start_up_alone_has_its_path)
{
    struct fixture f;
    setup(&f, 2);
    add(&f, 0, 0, 1000, 1010);
    add(&f, 1, 0, 100, 1010);
    f.list[0].from_ns = f.list[1].from_ns = 5100 * US;
    run(&f);
    REQUIRE(f.s.n_path == 1);
    CHECK_EQ_INT(f.s.path_own_ns[0], 1000 * US);
    CHECK_EQ_INT(f.s.wait_ns[1], 900 * US);
    arena_done(&f.mem);
}

/* Rank 1 is slow; rank 0 waits for it in their pair and so comes late to the meeting of all. */
TEST(who_is_held_up_by_another_rank_is_not_to_blame)
{
    struct fixture f;
    setup(&f, 4);
    for (int i = 0; i < 4; i++) {
        double t = 2000 * i;
        add(&f, 0, 1, t + 100, t + 600);
        add(&f, 1, 1, t + 550, t + 600);
        add(&f, 2, 2, t + 100, t + 150);
        add(&f, 3, 2, t + 100, t + 150);
        for (uint32_t r = 0; r < 4; r++) add(&f, r, 0, t + (r < 2 ? 700 : 250), t + 750);
    }
    run(&f);
    CHECK_EQ_UINT(f.s.n_list, 12);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_UINT(f.s.stragglers[0].rank, 1);
    arena_done(&f.mem);
}

TEST(clocks_are_aligned_on_ends)
{
    struct fixture f;
    setup(&f, 3);
    for (int i = 0; i < 30; i++)
        for (uint32_t r = 0; r < 3; r++) {
            double t = 100000.0 * i + 500, drift = r == 2 ? 50e-6 : 0;
            double off = (r == 1 ? 10000 : 0) + drift * t;
            double jitter = r == 1 ? (i % 3) - 1 : 0; /* microseconds */
            add(&f, r, 0, t - 100 + off, t + off + jitter);
        }
    run(&f);
    CHECK_NEAR(f.s.clocks[1].offset_ns, -10000 * US, 1);
    CHECK_NEAR(f.s.clocks[1].drift * 1e6, 0, 1e-9);
    CHECK_NEAR(f.s.clocks[1].error_ns, 1 * US, 1);
    CHECK_NEAR(f.s.clocks[2].drift * 1e6, -50, 0.1);
    CHECK(f.s.clocks[2].error_ns < 100);
    int64_t a = rank_set_time(&f.s, 0, f.list[0].events[20].end_ns);
    int64_t b = rank_set_time(&f.s, 2, f.list[2].events[20].end_ns);
    CHECK(llabs(a - b) < 100);
    arena_done(&f.mem);
}

/* Few ends of each rank are enough where many ranks share a clock. */
TEST(ranks_of_a_host_share_its_clock)
{
    struct fixture f;
    setup(&f, 6);
    for (uint32_t r = 0; r < 6; r++) f.list[r].host = r < 3 ? "a" : "b";
    for (int i = 0; i < 4; i++)
        for (uint32_t r = 0; r < 6; r++) {
            double t = 1e6 * i + 500, off = r < 3 ? 0 : 7000 + 40e-6 * t;
            add(&f, r, 0, t - 100 + off, t + off + (r == 4 ? 2 : 0));
        }
    run(&f);
    CHECK_EQ_INT((int64_t)f.s.clocks[1].offset_ns, 0);
    for (uint32_t r = 3; r < 6; r++) {
        CHECK_NEAR(f.s.clocks[r].drift * 1e6, -40, 0.5);
        CHECK_NEAR(f.s.clocks[r].offset_ns, -7000 * US, 1.5 * US);
    }
    CHECK(f.s.clocks[4].error_ns < 3 * US);
    arena_done(&f.mem);
}

TEST(clocks_are_reached_through_other_ranks)
{
    struct fixture f;
    setup(&f, 4);
    add(&f, 0, 1, 0, 100);
    add(&f, 1, 1, 5000, 5100);
    add(&f, 1, 0, 5200, 5300);
    add(&f, 2, 0, 1200, 1300);
    add(&f, 3, 2, 0, 10); /* shares nothing */
    run(&f);
    CHECK_NEAR(f.s.clocks[1].offset_ns, -5000 * US, 1);
    CHECK_NEAR(f.s.clocks[2].offset_ns, -1000 * US, 1);
    CHECK(!f.s.clocks[3].aligned);
    CHECK_EQ_UINT(f.s.unmatched, 1);
    arena_done(&f.mem);
}

/* One recording begins two collectives later; sizes tell. */
TEST(order_is_shifted_where_a_recording_began_later)
{
    struct fixture f;
    setup(&f, 2);
    for (int i = 0; i < 8; i++)
        for (uint32_t r = 0; r < 2; r++)
            if (r == 0 || i >= 2) add(&f, r, 0, 1000 * i, 1000 * i + 100)->bytes = 1000 + i;
    run(&f);
    REQUIRE(f.s.n_list == 6);
    CHECK_EQ_UINT(f.s.unmatched, 2);
    CHECK_EQ_INT(f.s.list[0].seq, 2);
    CHECK_EQ_INT(f.s.list[0].bytes, 1002);
    arena_done(&f.mem);
}

TEST(numbers_match_whatever_the_order)
{
    struct fixture f;
    setup(&f, 2);
    add(&f, 0, 0, 0, 100)->seq = 7;
    add(&f, 0, 0, 200, 300)->seq = 8;
    add(&f, 1, 0, 200, 300)->seq = 8;
    add(&f, 1, 0, 400, 500)->seq = 9;
    run(&f);
    REQUIRE(f.s.n_list == 1);
    CHECK_EQ_INT(f.s.list[0].seq, 8);
    CHECK_EQ_UINT(f.s.unmatched, 2);
    arena_done(&f.mem);
}

/* A file may number its collectives 1, 2, 1, 2, ...: a rank takes part in each of them once. */
TEST(a_rank_is_a_member_once_whatever_its_numbers)
{
    struct fixture f;
    setup(&f, 2);
    for (int i = 0; i < 12; i++)
        for (uint32_t r = 0; r < 2; r++)
            add(&f, r, 0, 1000 * i + 100 + 50 * r, 1000 * i + 400)->seq = 1 + i % 2;
    run(&f);
    CHECK_EQ_UINT(f.s.n_list, 2);
    CHECK_EQ_UINT(f.s.unmatched, 20);
    for (uint32_t i = 0; i < f.s.n_list; i++) {
        REQUIRE(CHECK_EQ_UINT(f.s.list[i].n, 2));
        CHECK_EQ_UINT(f.s.list[i].members[0].rank, 0);
        CHECK_EQ_UINT(f.s.list[i].members[1].rank, 1);
    }
    arena_done(&f.mem);
}

TEST(missing_and_duplicate_ranks)
{
    struct fixture f;
    setup(&f, 4);
    f.list[0].rank = 3;
    f.list[1].rank = -1;
    f.list[2].rank = 3;
    f.list[3].rank = 0;
    f.list[0].world = 6;
    run(&f);
    CHECK_EQ_UINT(f.s.n, 3);
    CHECK_EQ_INT(f.s.ranks[2].rank, 4); /* the first number after those that are known */
    CHECK_EQ_UINT(f.s.n_twice, 1);
    REQUIRE(f.s.n_missing == 3);
    CHECK_EQ_INT(f.s.missing[0], 1);
    CHECK_EQ_INT(f.s.missing[2], 5);
    arena_done(&f.mem);
}

static struct rank_cost kernel(const char *name, uint32_t calls, double each_us, double blocks)
{
    return (struct rank_cost){.name = name,
                              .calls = calls,
                              .total_ns = (int64_t)(each_us * US) * calls,
                              .blocks = blocks,
                              .place = {.name = name}};
}

/* Four ranks, the last late by 200 us per round: what it did more of says why. */
static void check_cause(enum rank_counter more, const struct rank_cost *own, enum rank_cause want)
{
    struct fixture f;
    struct rank_cost usual[3] = {kernel("a", 10, 100, 50), kernel("b", 10, 50, 50),
                                 kernel("c", 10, 20, 50)};
    setup(&f, 4);
    for (uint32_t r = 0; r < 4; r++) {
        f.list[r].kernels.list = r == 3 ? (struct rank_cost *)(uintptr_t)own : usual;
        f.list[r].kernels.n = 3;
        for (int i = 0; i < 5; i++) {
            struct rank_event *e = add(&f, r, 0, 1000 * i + (r == 3 ? 300 : 100), 1000 * i + 400);
            int64_t ns[RANK_TIMES];
            for (int k = 0; k < RANK_TIMES; k++)
                ns[k] = 50 * US + (r == 3 && k == (int)more ? 200 * US : 0);
            rank_event_set(e, ns);
        }
    }
    run(&f);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_UINT(f.s.stragglers[0].rank, 3);
    CHECK_EQ_STR(rank_cause_name(f.s.stragglers[0].cause), rank_cause_name(want));
    arena_done(&f.mem);
}

TEST(why_a_rank_is_late)
{
    const struct rank_cost usual[3] = {kernel("a", 10, 100, 50), kernel("b", 10, 50, 50),
                                       kernel("c", 10, 20, 50)};
    const struct rank_cost one[3] = {kernel("a", 10, 200, 50), kernel("b", 10, 50, 50),
                                     kernel("c", 10, 20, 50)};
    const struct rank_cost all[3] = {kernel("a", 10, 130, 50), kernel("b", 10, 65, 50),
                                     kernel("c", 10, 26, 50)};
    const struct rank_cost larger[3] = {kernel("a", 10, 200, 100), kernel("b", 10, 50, 50),
                                        kernel("c", 10, 20, 50)};
    check_cause(RANK_COMPUTE, one, RANK_CAUSE_SLOW_KERNEL);
    check_cause(RANK_COMPUTE, all, RANK_CAUSE_SLOW_CLOCK);
    check_cause(RANK_COMPUTE, larger, RANK_CAUSE_MORE_WORK);
    check_cause(RANK_IDLE_SYNC, usual, RANK_CAUSE_SYNC);
    check_cause(RANK_IDLE_DATA, usual, RANK_CAUSE_DATA);
    check_cause(RANK_IDLE_GC, usual, RANK_CAUSE_GC);
    check_cause(RANK_IDLE_HOST, usual, RANK_CAUSE_HOST);
    check_cause(RANK_IDLE_LAUNCH, usual, RANK_CAUSE_LAUNCH);
    check_cause(RANK_COPIES, usual, RANK_CAUSE_COPIES);
}

/* Four ranks with a kernel and a function each, the last late by 200 us per round. */
static void late_with(struct fixture *f, struct rank_cost *kernels, struct rank_cost *own)
{
    static struct rank_cost usual;
    setup(f, 4);
    usual = kernel("a", 10, 100, 50);
    for (uint32_t r = 0; r < 4; r++) {
        f->list[r].kernels = (struct rank_costs){r == 3 ? kernels : &usual, 1};
        f->list[r].functions = (struct rank_costs){r == 3 ? own : NULL, r == 3};
        for (int i = 0; i < 5; i++) add(f, r, 0, 1000 * i + (r == 3 ? 300 : 100), 1000 * i + 400);
    }
    run(f);
    REQUIRE(f->s.n_stragglers == 1);
}

/* A delay before the first kernel is no gap between kernels. */
TEST(kernels_that_take_a_microsecond_longer_explain_no_delay)
{
    struct fixture f;
    struct rank_cost kernels = kernel("a", 10, 101, 50), log = kernel("log_metrics", 5, 200, 0);
    log.reason = RANK_IDLE_HOST;
    late_with(&f, &kernels, &log);
    CHECK_EQ_STR(rank_cause_name(f.s.stragglers[0].cause), "host");
    CHECK_EQ_STR(f.s.stragglers[0].place.name, "log_metrics");
    arena_done(&f.mem);
}

/* The thread that waits for the other one takes as much longer. */
TEST(what_happened_is_named_and_not_who_waits_for_it)
{
    struct fixture f;
    struct rank_cost usual[1] = {kernel("run_backward", 5, 900, 0)};
    struct rank_cost own[2] = {kernel("run_backward", 5, 1101, 0), kernel("log", 5, 200, 0)};
    usual[0].reason = own[0].reason = own[1].reason = RANK_IDLE_HOST;
    setup(&f, 4);
    for (uint32_t r = 0; r < 4; r++) {
        f.list[r].host_only = true;
        f.list[r].functions = (struct rank_costs){r == 3 ? own : usual, r == 3 ? 2 : 1};
        for (int i = 0; i < 5; i++) add(&f, r, 0, 1000 * i + (r == 3 ? 300 : 100), 1000 * i + 400);
    }
    run(&f);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_STR(f.s.stragglers[0].place.name, "log");
    arena_done(&f.mem);
}

/* Others that run ahead wait again for the rank that was held up once. */
TEST(no_more_can_be_gained_than_was_lost)
{
    struct fixture f;
    struct rank_cost kernels = kernel("a", 10, 100, 50), gc = kernel("Python GC", 1, 250, 0);
    gc.reason = RANK_IDLE_GC;
    late_with(&f, &kernels, &gc);
    CHECK_EQ_STR(rank_cause_name(f.s.stragglers[0].cause), "gc");
    CHECK_EQ_INT(f.s.stragglers[0].late_ns, 5 * 200 * US);
    CHECK_EQ_INT(f.s.stragglers[0].extra_ns, 250 * US);
    arena_done(&f.mem);
}

/* A collective of ranks `a` and `b`, which go on 100 us after it; rank 3 has a slow link. */
static void meet(struct fixture *f, uint32_t group, uint32_t a, uint32_t b, double *at)
{
    double begin = at[a] > at[b] ? at[a] : at[b], end = begin + (b == 3 ? 200 : 100);
    add(f, a, group, at[a], end);
    add(f, b, group, at[b], end);
    at[a] = at[b] = end + 100;
}

/* Pairs, and pairs across them. Those that wait for rank 3 come late elsewhere; they are not to
 * blame. */
TEST(a_slow_link_is_found_where_groups_can_be_compared)
{
    static const char *const keys[] = {"0\nrow0\n", "1\nrow1\n", "2\ncolumn0\n", "3\ncolumn1\n"};
    double at[4] = {0};
    struct fixture f;
    setup(&f, 4);
    for (uint32_t r = 0; r < 4; r++) {
        f.list[r].groups = f.list[r].group_names = (const char **)(uintptr_t)keys;
        f.list[r].n_groups = 4;
    }
    for (int i = 0; i < 8; i++) {
        meet(&f, 0, 0, 1, at);
        meet(&f, 1, 2, 3, at);
        meet(&f, 2, 0, 2, at);
        meet(&f, 3, 1, 3, at);
    }
    run(&f);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_UINT(f.s.stragglers[0].rank, 3);
    CHECK_EQ_STR(rank_cause_name(f.s.stragglers[0].cause), "slow_link");
    CHECK_NEAR(f.s.stragglers[0].ratio, 2, 0.01);
    arena_done(&f.mem);
}

/* Collectives of one size take 100 us in one place and 400 us in another: no link is slow. */
TEST(a_place_where_all_transfers_take_long_is_usual)
{
    static const char *const keys[] = {"0\na\n", "1\nb\n", "2\nc\n", "3\nd\n"};
    struct fixture f;
    setup(&f, 8);
    for (uint32_t r = 0; r < 8; r++) {
        f.list[r].groups = f.list[r].group_names = (const char **)(uintptr_t)keys;
        f.list[r].n_groups = 4;
        add(&f, r, r / 2, 0, 100);
        add(&f, r, r / 2, 1000, 1400);
    }
    run(&f);
    REQUIRE(f.s.n_list == 8);
    for (uint32_t i = 0; i < 8; i++) CHECK_EQ_INT(f.s.list[i].usual_ns, f.s.list[i].transfer_ns);
    arena_done(&f.mem);
}

/* Messages of neighbours, four each way: rank `a` waits `wait_us` for `b`. */
static void exchange(struct fixture *f, uint32_t group, uint32_t a, uint32_t b, double wait_us)
{
    for (int i = 0; i < 4; i++) {
        double at = 2000 * i + 400 * group;
        struct rank_event *x = add(f, a, group, at, at + wait_us + 20);
        struct rank_event *y = add(f, b, group, at + wait_us, at + wait_us + 20);
        x->what = y->what = COLLECTIVE_SEND_RECV;
        x->exposed_ns = (float)(wait_us + 20) * US;
    }
}

static void set_pairs(struct fixture *f)
{
    static const char *const keys[] = {"0\n\n0 to 1", "0\n\n1 to 2", "0\n\n2 to 3", "0\n\n3 to 0"};
    setup(f, 4);
    for (uint32_t r = 0; r < 4; r++) {
        f->list[r].groups = f->list[r].group_names = (const char **)(uintptr_t)keys;
        f->list[r].n_groups = 4;
        f->list[r].compute_ns = (r == 2 ? 6000 : 5000) * US;
    }
}

TEST(nobody_is_late_in_a_pipeline)
{
    struct fixture f;
    set_pairs(&f);
    for (uint32_t r = 0; r < 3; r++) exchange(&f, r, r, r + 1, 300);
    run(&f);
    CHECK_EQ_UINT(f.s.n_stragglers, 0);
    CHECK_EQ_UINT(f.s.pipeline.ranks, 4);
    CHECK_EQ_INT(f.s.pipeline.bubble_ns[0], 4 * 300 * US);
    CHECK_EQ_INT(f.s.pipeline.bubble_ns[3], 0);
    CHECK_NEAR(f.s.pipeline.bubble_pct, 9, 0.01);
    CHECK_EQ_UINT(f.s.pipeline.slowest, 2);
    CHECK_NEAR(f.s.pipeline.ratio, 1.2, 0.001);
    arena_done(&f.mem);
}

TEST(a_ring_is_no_pipeline)
{
    struct fixture f;
    set_pairs(&f);
    for (uint32_t r = 0; r < 4; r++) exchange(&f, r, r, (r + 1) % 4, 300);
    run(&f);
    CHECK_EQ_UINT(f.s.pipeline.ranks, 0);
    arena_done(&f.mem);
}

/* Without a device the function that takes longer than elsewhere is the cause. */
TEST(why_a_rank_without_a_device_is_late)
{
    struct fixture f;
    struct rank_cost usual[2] = {kernel("run_backward", 5, 900, 0), kernel("mm", 5, 50, 0)};
    struct rank_cost own[3] = {kernel("run_backward", 5, 400, 0), kernel("sleep", 5, 200, 0),
                               kernel("mm", 5, 50, 0)};
    own[1].reason = RANK_IDLE_HOST;
    setup(&f, 4);
    for (uint32_t r = 0; r < 4; r++) {
        f.list[r].host_only = true;
        f.list[r].functions = (struct rank_costs){r == 3 ? own : usual, r == 3 ? 3 : 2};
        for (int i = 0; i < 5; i++) add(&f, r, 0, 1000 * i + (r == 3 ? 300 : 100), 1000 * i + 400);
    }
    run(&f);
    REQUIRE(f.s.n_stragglers == 1);
    CHECK_EQ_STR(rank_cause_name(f.s.stragglers[0].cause), "host");
    CHECK_EQ_STR(f.s.stragglers[0].place.name, "sleep");
    CHECK_EQ_INT(f.s.stragglers[0].cause_ns, 5 * 200 * US);
    arena_done(&f.mem);
}

static int run_again(void *fixture)
{
    struct fixture *f = fixture;
    struct arena mem;
    struct rank_set s;
    struct err e;
    err_init(&e);
    arena_init(&mem);
    int rc = rank_set_run(f->list, f->n, &mem, &s, &e);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct fixture f;
    setup(&f, 4);
    for (int i = 0; i < 5; i++)
        for (uint32_t r = 0; r < 4; r++)
            add(&f, r, 0, 1000 * i + (r == 2 ? 300 : 100), 1000 * i + 400);
    CHECK_EVERY_ALLOC(run_again, &f);
    arena_done(&f.mem);
}

TEST_MAIN
