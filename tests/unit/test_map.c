/* test_map.c: against the obvious answer, with keys that collide and grow the table. */
#include "base/map.h"
#include "base/seed.h"

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

/* How many steps finding all keys takes: slots between where a key belongs and where it is. */
static uint64_t steps_of(const struct map *m)
{
    uint64_t steps = 0;
    for (size_t i = 0; i <= m->mask; i++)
        if (m->slots[i].value != MAP_NONE) steps += (i - seed_hash(m->slots[i].key)) & m->mask;
    return steps;
}

/* The largest number of keys, of N at equal distances, whose hashes share their last 12 bits. */
static unsigned crowd(uint64_t seed, uint64_t distance)
{
    enum { SLOTS = 4096, N = 4096 };
    static unsigned n[SLOTS];
    unsigned most = 0;
    memset(n, 0, sizeof n);
    for (uint64_t i = 0; i < N; i++) {
        unsigned *at = &n[seed_mix(i * distance, seed) % SLOTS];
        if (++*at > most) most = *at;
    }
    return most;
}

TEST(keys_at_equal_distances_spread_under_every_seed)
{
    const uint64_t distances[] = {1, 2, 3, 10, 64, 1000, 4096, 1u << 20, 1ull << 32, 1ull << 44};
    unsigned most = 0;
    for (uint64_t k = 1; k <= 400; k++)
        for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
            unsigned here = crowd(map_mix(k) | 1, distances[d]);
            if (here > most) most = here;
        }
    CHECK(most <= 14); /* 4,000 times 4,096 balls thrown at random into as many boxes: 11 or 12 */
}

/* Keys whose mixed bits agree: as long as the place of a key was one of them, finding n of these
 * took n * n steps, and a file could ask for that. */
TEST(keys_chosen_to_collide_do_not)
{
    enum { N = 4096 };
    const uint64_t back = 0xcfee444d8b59a89bu; /* times 0xd6e8feb86659fd93 it is 1 */
    CHECK_EQ_UINT(back * 0xd6e8feb86659fd93u, 1);
    struct map m;
    map_init(&m);
    for (uint64_t i = 1; i <= N; i++) {
        uint64_t key = i << 36;
        for (int k = 0; k < 2; k++) key = (key ^ key >> 32) * back;
        key ^= key >> 32;
        CHECK_EQ_UINT(map_mix(key) & 0xfffffffffu, 0);
        *map_at(&m, key) = (uint32_t)i;
    }
    CHECK(steps_of(&m) < 16 * N);
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
