/* test_map.c: against the obvious answer, with keys that collide and grow the table. */
#include "base/map.h"

#include "test.h"

TEST(empty)
{
    struct map m;
    map_init(&m);
    CHECK_EQ_UINT(map_find(&m, 0), MAP_NONE);
    CHECK_EQ_UINT(map_find(&m, UINT64_MAX), MAP_NONE);
    map_done(&m);
}

TEST(finds_what_was_put_and_nothing_else)
{
    enum { N = 20000 };
    struct map m;
    map_init(&m);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t *at = map_at(&m, (uint64_t)i * 3);
        REQUIRE(at != NULL);
        CHECK_EQ_UINT(*at, MAP_NONE);
        *at = i;
    }
    CHECK_EQ_UINT(m.n, N);
    for (uint32_t i = 0; i < 3 * N; i++)
        REQUIRE(map_find(&m, i) == (i % 3 == 0 ? i / 3 : MAP_NONE));
    *map_at(&m, 6) = 77;
    CHECK_EQ_UINT(map_find(&m, 6), 77);
    CHECK_EQ_UINT(m.n, N);
    map_done(&m);
}

TEST(keys_at_the_edges)
{
    static const uint64_t keys[] = {0, 1, UINT32_MAX, (uint64_t)1 << 32, INT64_MAX, UINT64_MAX};
    struct map m;
    map_init(&m);
    for (uint32_t i = 0; i < 6; i++) *map_at(&m, keys[i]) = i;
    for (uint32_t i = 0; i < 6; i++) CHECK_EQ_UINT(map_find(&m, keys[i]), i);
    map_done(&m);
}

TEST(reserved_room_needs_no_more_memory)
{
    struct map m;
    map_init(&m);
    REQUIRE(!map_reserve(&m, 1000));
    mem_fail_at(1);
    for (uint64_t i = 0; i < 1000; i++) {
        uint32_t *at = map_at(&m, i * i);
        REQUIRE(at != NULL);
        *at = (uint32_t)i;
    }
    mem_fail_at(0);
    CHECK(map_reserve(&m, SIZE_MAX));
    CHECK_EQ_UINT(map_find(&m, 999 * 999), 999);
    map_done(&m);
}

TEST(a_slot_never_filled_is_absent)
{
    struct map m;
    map_init(&m);
    for (uint64_t i = 0; i < 100; i++) {
        uint32_t *at = map_at(&m, i);
        REQUIRE(at != NULL);
        if (i % 2) *at = 1;
    }
    CHECK_EQ_UINT(map_find(&m, 10), MAP_NONE);
    CHECK_EQ_UINT(map_find(&m, 11), 1);
    CHECK(!map_reserve(&m, 10000));
    CHECK_EQ_UINT(m.n, 50);
    map_done(&m);
}

static int fill(void *ctx)
{
    struct map m;
    map_init(&m);
    int rc = 0;
    for (uint32_t i = 0; i < 500 && rc == 0; i++) {
        uint32_t *at = map_at(&m, i);
        if (at) *at = i;
        else rc = -1;
        if (!at && i) CHECK_EQ_UINT(map_find(&m, i - 1), i - 1); /* still there */
    }
    map_done(&m);
    return rc;
}

TEST(out_of_memory)
{
    CHECK_EVERY_ALLOC(fill, NULL);
}

TEST_MAIN
