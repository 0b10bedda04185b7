/* test_utf8.c: which sequences are well formed, which are safe, and how wide they are. */
#include "base/utf8.h"

#include "test.h"

static size_t len_of(const char *s)
{
    return utf8_len(str_c(s), 0);
}

TEST(well_formed)
{
    CHECK_EQ_UINT(len_of("a"), 1);
    CHECK_EQ_UINT(len_of("é"), 2);
    CHECK_EQ_UINT(len_of("語"), 3);
    CHECK_EQ_UINT(len_of("🚀"), 4);
    CHECK_EQ_UINT(len_of("\xf4\x8f\xbf\xbf"), 4); /* U+10FFFF */
    CHECK_EQ_UINT(utf8_len(str_from("\0", 1), 0), 1);
    CHECK_EQ_UINT(utf8_len(str_c("aé"), 1), 2);
}

TEST(malformed)
{
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc3",
        "\xc3(",
        "\xe0\x80\x80",
        "\xe2\x82",
        "\xed\xa0\x80",
        "\xf0\x80\x80\x80",
        "\xf0\x9f\x9a",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_EQ_UINT(len_of(bad[i]), 0);
}

TEST(unsafe)
{
    static const char *const bad[] = {"\x1b",         "\n",           "\x7f",
                                      "\xc2\x80",     "\xc2\x9b",     "\xe2\x80\xae",
                                      "\xe2\x81\xa6", "\xe2\x80\xa8", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ_UINT(utf8_safe_len(str_c(bad[i]), 0), 0);
    CHECK_EQ_UINT(utf8_safe_len(str_c("a"), 0), 1);
    CHECK_EQ_UINT(utf8_safe_len(str_c("\xc2\xa0"), 0), 2);
    CHECK_EQ_UINT(utf8_safe_len(str_c("🚀"), 0), 4);
}

TEST(width)
{
    CHECK_EQ_INT(utf8_width(str_c("")), 0);
    CHECK_EQ_INT(utf8_width(str_from(NULL, 0)), 0);
    CHECK_EQ_INT(utf8_width(str_c("abc")), 3);
    CHECK_EQ_INT(utf8_width(str_c("größe")), 5);
    CHECK_EQ_INT(utf8_width(str_c("日本")), 4);
    CHECK_EQ_INT(utf8_width(str_c("🚀!")), 3);
    CHECK_EQ_INT(utf8_width(str_c("\xff\xfe")), 2);
}

TEST_MAIN
