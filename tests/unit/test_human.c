/* test_human.c: three significant digits, the unit that fits, names cut so that both ends tell. */
#include "base/human.h"

#include "base/utf8.h"
#include "test.h"

TEST(times)
{
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1, "1 ns"},
        {999, "999 ns"},
        {1000, "1.00 us"},
        {4129, "4.13 us"},
        {9994, "9.99 us"},
        {9996, "10.0 us"},
        {99940, "99.9 us"},
        {99960, "100 us"},
        {999499, "999 us"},
        {999500, "1.00 ms"},
        {10700000, "10.7 ms"},
        {564600000, "565 ms"},
        {2150000000, "2.15 s"},
        {3600000000000, "3600 s"},
        {-4129, "-4.13 us"},
        {-5, "-5 ns"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ_STR(human_time(rows[i].ns).s, rows[i].text);
    CHECK(strlen(human_time(INT64_MIN).s) < sizeof(struct human));
    CHECK(strlen(human_time(INT64_MAX).s) < sizeof(struct human));
}

TEST(one_unit_for_a_column)
{
    CHECK_EQ_STR(human_time_in(1234567, 0).s, "1234567 ns");
    CHECK_EQ_STR(human_time_in(1234567, 1).s, "1235 us");
    CHECK_EQ_STR(human_time_in(1234567, 2).s, "1.23 ms");
    CHECK_EQ_STR(human_time_in(12345678901, 3).s, "12.3 s");
}

TEST(bytes)
{
    CHECK_EQ_STR(human_bytes(0).s, "0 B");
    CHECK_EQ_STR(human_bytes(999).s, "999 B");
    CHECK_EQ_STR(human_bytes(1000).s, "1.00 KB");
    CHECK_EQ_STR(human_bytes(8610000000).s, "8.61 GB");
    CHECK_EQ_STR(human_bytes(-1500).s, "-1.50 KB");
    CHECK_EQ_STR(human_bytes(INT64_MAX).s, "9.22 EB");
}

TEST(counts)
{
    CHECK_EQ_STR(human_count(0).s, "0");
    CHECK_EQ_STR(human_count(999).s, "999");
    CHECK_EQ_STR(human_count(1000).s, "1,000");
    CHECK_EQ_STR(human_count(218570).s, "218,570");
    CHECK_EQ_STR(human_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

TEST(percentages)
{
    CHECK_EQ_STR(human_pct(98.44).s, "98.4 %");
    CHECK_EQ_STR(human_pct(100).s, "100 %");
    CHECK_EQ_STR(human_pct(99.96).s, "100 %");
    CHECK_EQ_STR(human_pct(-2).s, "-2.0 %");
    CHECK_EQ_STR(human_pct(-0.01).s, "0.0 %");
    CHECK_EQ_STR(human_pct(NAN).s, "-");
    CHECK_EQ_STR(human_pct(INFINITY).s, "-");
}

static const char *cut(const char *s, int width)
{
    static char out[256];
    return human_cut(str_c(s), width, out, sizeof out);
}

TEST(names_are_cut_in_the_middle)
{
    CHECK_EQ_STR(cut("short", 10), "short");
    CHECK_EQ_STR(cut("exactly-10", 10), "exactly-10");
    CHECK_EQ_STR(cut("void at::native::vectorized_kernel", 20), "void a...ized_kernel");
    CHECK_EQ_STR(cut("", 10), "");
    CHECK_EQ_STR(cut("abcdef", 4), "...f");
    CHECK_EQ_STR(cut("abcdef", 3), "...");
    CHECK_EQ_STR(cut("abcdef", 2), "..");
    CHECK_EQ_STR(cut("abcdef", 0), "");
    CHECK_EQ_STR(cut("abcdef", -4), "");
}

TEST(a_cut_name_is_never_wider_than_asked)
{
    const char *name = "日本語の関数 f\xff\xffoo\x1b[2Jbar 🚀🚀 関数名の終わり";
    for (int width = 0; width < 60; width++) {
        char out[256];
        human_cut(str_c(name), width, out, sizeof out);
        CHECK(utf8_width(str_c(out)) <= width);
    }
}

TEST(what_a_terminal_would_obey_is_taken_out)
{
    CHECK_EQ_STR(cut("a\x1b[31mb\r\n\x7f", 40), "a?[31mb???");
    CHECK_EQ_STR(cut("stray \xff\xc3", 40), "stray ??");
    CHECK_EQ_STR(cut("csi \xc2\x9b"
                     "2J",
                     40),
                 "csi ?2J");
    CHECK_EQ_STR(cut("bidi \xe2\x80\xae"
                     "evil",
                     40),
                 "bidi ?evil");
    char text[] = "\x1b]0;title\x07 größe \xe2\x80\xae\xf0\x9f";
    CHECK_EQ_STR(human_clean(text), "?]0;title? größe ???");
    char plain[] = "at::native::foo<int>";
    CHECK_EQ_STR(human_clean(plain), "at::native::foo<int>");
}

TEST(a_small_buffer_is_not_overrun)
{
    char out[8];
    memset(out, '#', sizeof out);
    human_cut(str_c("0123456789"), 10, out, 5);
    CHECK_EQ_STR(out, "0123");
    CHECK_EQ_INT(out[5], '#');
    human_cut(str_c("ééé"), 10, out, 4);
    CHECK_EQ_STR(out, "é");
}

TEST_MAIN
