/* test_arena.c: alignment, growth over chunks, marks, running out. */
#include "base/arena.h"

#include "test.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

TEST(blocks_are_aligned_and_apart)
{
    struct arena a;
    arena_init(&a);
    char *before = NULL;
    for (size_t size = 0; size < 100; size++) {
        char *p = arena_alloc(&a, size);
        REQUIRE(p != NULL);
        CHECK_EQ_UINT((uintptr_t)p % 16, 0);
        memset(p, 0x5a, size);
        if (before && size > 1) CHECK(p >= before + size - 1 || p < before);
        before = p;
    }
    arena_done(&a);
    CHECK(a.top == NULL);
}

TEST(a_block_larger_than_any_chunk)
{
    struct arena a;
    arena_init(&a);
    char *small = arena_alloc(&a, 10);
    char *large = arena_alloc(&a, (size_t)32 << 20);
    REQUIRE(small && large);
    memset(large, 1, (size_t)32 << 20);
    memset(small, 2, 10);
    CHECK_EQ_INT(large[0], 1);
    CHECK(arena_alloc(&a, SIZE_MAX) == NULL);
    CHECK(arena_alloc(&a, SIZE_MAX - 64) == NULL);
    CHECK(arena_zalloc(&a, SIZE_MAX / 4, 8) == NULL);
    arena_done(&a);
}

TEST(zalloc_clears_reused_memory)
{
    struct arena a;
    arena_init(&a);
    struct arena_mark m = arena_mark(&a);
    memset(arena_alloc(&a, 256), 0xff, 256);
    arena_reset_to(&a, m);
    memset(arena_alloc(&a, 256), 0xff, 256);
    m = arena_mark(&a);
    memset(arena_alloc(&a, 256), 0xff, 256);
    arena_reset_to(&a, m);
    const char *p = arena_zalloc(&a, 16, 16);
    for (int i = 0; i < 256; i++) REQUIRE(p[i] == 0);
    arena_done(&a);
}

TEST(a_mark_frees_what_came_after_it)
{
    struct arena a;
    arena_init(&a);
    char *kept = arena_strdup(&a, str_c("kept"));
    struct arena_mark m = arena_mark(&a);
    void *first = arena_alloc(&a, 64);
    for (int i = 0; i < 1000; i++) arena_alloc(&a, 1000);
    arena_reset_to(&a, m);
    CHECK_EQ_STR(kept, "kept");
    CHECK(arena_alloc(&a, 64) == first);
    arena_done(&a);
}

TEST(strings)
{
    struct arena a;
    arena_init(&a);
    CHECK_EQ_STR(arena_strdup(&a, str_from("abcdef", 3)), "abc");
    CHECK_EQ_STR(arena_strdup(&a, str_from(NULL, 0)), "");
    CHECK_EQ_STR(arena_printf(&a, "%d-%s", 42, "x"), "42-x");
    arena_done(&a);
}

static int fill(void *ctx)
{
    struct arena a;
    arena_init(&a);
    int rc = 0;
    for (int i = 0; i < 100 && rc == 0; i++)
        if (!arena_alloc(&a, 5000) || !arena_strdup(&a, str_c("name"))) rc = -1;
    arena_done(&a);
    return rc;
}

TEST(out_of_memory)
{
    CHECK_EVERY_ALLOC(fill, NULL);
}

#ifdef __SANITIZE_ADDRESS__
/* One byte too far is seen, also between blocks of one chunk and after a reset. */
TEST(the_sanitizer_knows_the_blocks)
{
    struct arena a;
    arena_init(&a);
    char *first = arena_alloc(&a, 32);
    struct arena_mark mark = arena_mark(&a);
    char *second = arena_alloc(&a, 5);
    REQUIRE(first && second);
    CHECK(!__asan_address_is_poisoned(first) && !__asan_address_is_poisoned(first + 31));
    CHECK(__asan_address_is_poisoned(first + 32));
    CHECK(!__asan_address_is_poisoned(second + 4) && __asan_address_is_poisoned(second + 5));
    arena_reset_to(&a, mark);
    CHECK(__asan_address_is_poisoned(second));
    CHECK(!__asan_address_is_poisoned(first + 31));
    arena_done(&a);
}
#endif

TEST_MAIN
