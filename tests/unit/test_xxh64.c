/* test_xxh64.c: published values, and every length around the boundaries of the algorithm. */
#include "format/xxh64.h"

#include "test.h"

TEST(known_values)
{
    CHECK_EQ_UINT(xxh64("", 0), 0xef46db3751d8e999u);
    CHECK_EQ_UINT(xxh64("a", 1), 0xd24ec4f1a98c6e5bu);
    CHECK_EQ_UINT(xxh64("abc", 3), 0x44bc2cf5ad770999u);
    const char *text = "Nobody inspects the spammish repetition";
    CHECK_EQ_UINT(xxh64(text, strlen(text)), 0xfbcea83c8a378bf1u);
}

TEST(one_bit_changes_it)
{
    unsigned char bytes[100];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7);
    for (size_t n = 1; n <= sizeof bytes; n++) {
        uint64_t before = xxh64(bytes, n);
        CHECK(before != xxh64(bytes, n - 1));
        for (size_t i = 0; i < n; i++) {
            bytes[i] ^= 0x10;
            CHECK(xxh64(bytes, n) != before);
            bytes[i] ^= 0x10;
        }
    }
}

TEST_MAIN
