/* test_blocks.c: transformer blocks told from the sizes of their modules. */
#include "offload/blocks.h"
#include "test.h"

static uint32_t number(const int64_t *bytes, uint32_t n, uint32_t *block)
{
    struct arena mem;
    uint32_t n_blocks = 0;
    arena_init(&mem);
    CHECK_EQ_INT(blocks_number(bytes, n, &mem, block, &n_blocks), 0);
    arena_done(&mem);
    return n_blocks;
}

static void check(const uint32_t *got, const uint32_t *want, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) CHECK_EQ_UINT(got[i], want[i]);
}

TEST(embedding_blocks_head)
{
    static const int64_t bytes[] = {500, 1, 30, 10, 1, 40, 1, 30, 10, 1, 40, 1, 30, 10, 1, 40, 77};
    static const uint32_t want[] = {0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4};
    uint32_t block[17];
    CHECK_EQ_UINT(number(bytes, 17, block), 5);
    check(block, want, 17);
}

TEST(two_kinds_of_blocks)
{
    static const int64_t bytes[] = {9, 30, 40, 30, 40, 30, 40, 5, 6, 7, 5, 6, 7, 88};
    static const uint32_t want[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6};
    uint32_t block[14];
    CHECK_EQ_UINT(number(bytes, 14, block), 7);
    check(block, want, 14);
}

TEST(equal_modules_are_no_blocks)
{
    static const int64_t bytes[] = {8, 8, 8, 8, 8, 8};
    static const uint32_t want[] = {0, 1, 2, 3, 4, 5};
    uint32_t block[6];
    CHECK_EQ_UINT(number(bytes, 6, block), 6);
    check(block, want, 6);
    CHECK_EQ_UINT(number(bytes, 0, block), 0);
}

TEST(what_is_outside_of_blocks_is_loose)
{
    static const int64_t bytes[] = {500, 1, 30, 1, 30, 1, 30, 77};
    uint32_t block[8];
    number(bytes, 8, block);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_EQ_INT(blocks_is_loose(bytes, block, 8, i), i == 0 || i == 7);
}

/* Whole blocks as modules: nothing lies outside of them. */
TEST(a_model_without_blocks_has_nothing_loose)
{
    static const int64_t bytes[] = {787, 680, 680, 340, 340};
    uint32_t block[5];
    number(bytes, 5, block);
    for (uint32_t i = 0; i < 5; i++) CHECK(!blocks_is_loose(bytes, block, 5, i));
}

TEST_MAIN
