/* test_resident.c: which modules stay. */
#include "offload/scheme.h"
#include "test.h"

/* A block of 10, 70, 20 and 50 bytes, twice. */
static const struct resident_item items[] = {
    {10, 1}, {70, 7}, {20, 9}, {50, 5}, {10, 1}, {70, 7}, {20, 2}, {50, 5},
};
enum { N = sizeof items / sizeof *items };

/* "x" for what stays, "." for what goes. */
static const char *choose(enum resident_order order, int64_t limit, int64_t *bytes)
{
    static char text[N + 1];
    bool stays[N];
    struct arena mem;
    arena_init(&mem);
    struct resident_query q = {items, N, order, limit};
    CHECK_EQ_INT(resident_choose(&q, &mem, stays, bytes), 0);
    for (int i = 0; i < N; i++) text[i] = stays[i] ? 'x' : '.';
    arena_done(&mem);
    return text;
}

TEST(in_order_of_size_and_among_equals_of_execution)
{
    int64_t bytes;
    CHECK_EQ_STR(choose(RESIDENT_SMALLEST, 60, &bytes), "x.x.x.x.");
    CHECK_EQ_INT(bytes, 60);
    CHECK_EQ_STR(choose(RESIDENT_LARGEST, 140, &bytes), ".x...x..");
    CHECK_EQ_INT(bytes, 140);
}

TEST(what_no_longer_fits_is_skipped)
{
    int64_t bytes;
    CHECK_EQ_STR(choose(RESIDENT_LARGEST, 165, &bytes), ".xx..x..");
    CHECK_EQ_INT(bytes, 160);
}

TEST(worth_for_its_bytes)
{
    int64_t bytes;
    CHECK_EQ_STR(choose(RESIDENT_BEST, 30, &bytes), "x.x.....");
    CHECK_EQ_INT(bytes, 30);
}

TEST(nothing_and_everything)
{
    int64_t bytes;
    CHECK_EQ_STR(choose(RESIDENT_LARGEST, 0, &bytes), "........");
    CHECK_EQ_STR(choose(RESIDENT_SMALLEST, 1000, &bytes), "xxxxxxxx");
    CHECK_EQ_INT(bytes, 300);
}

TEST_MAIN
