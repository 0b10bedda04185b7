/* test_mem.c: sizes that overflow, zero sizes, and the countdown everything else relies on. */
#include "base/mem.h"

#include "test.h"

TEST(zero_sizes_are_blocks_too)
{
    void *a = mem_alloc(0), *b = mem_zalloc(0, 8), *c = mem_grow(NULL, 0, 8);
    CHECK(a && b && c);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(NULL);
}

TEST(overflowing_sizes_fail)
{
    CHECK(mem_zalloc(SIZE_MAX, 2) == NULL);
    CHECK(mem_grow(NULL, SIZE_MAX / 2, 4) == NULL);
}

TEST(blocks_are_cleared_copied_and_grown)
{
    char *z = mem_zalloc(10, 10);
    REQUIRE(z != NULL);
    for (int i = 0; i < 100; i++) CHECK_EQ_INT(z[i], 0);
    z[99] = 7;
    z = mem_grow(z, 1000, 10);
    REQUIRE(z != NULL);
    CHECK_EQ_INT(z[99], 7);
    mem_free(z);
    char *s = mem_strdup("copy");
    CHECK_EQ_STR(s, "copy");
    mem_free(s);
}

TEST(the_countdown)
{
    mem_fail_at(3);
    void *a = mem_alloc(1), *b = mem_zalloc(1, 1);
    CHECK(a && b);
    CHECK(mem_alloc(1) == NULL);
    CHECK(mem_grow(a, 2, 1) == NULL); /* and `a` is still ours */
    CHECK(mem_strdup("x") == NULL);
    CHECK_EQ_INT(mem_count(), 5);
    mem_fail_at(0);
    void *c = mem_alloc(1);
    CHECK(c != NULL);
    CHECK_EQ_INT(mem_count(), 1);
    mem_free(a);
    mem_free(b);
    mem_free(c);
}

TEST_MAIN
