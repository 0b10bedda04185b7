/* test_human.c: three significant digits, the unit that fits, names cut so that both ends tell. */
#include "base/human.h"

#include "base/file.h"
#include "base/jdoc.h"
#include "base/utf8.h"
#include "test.h"

/* The texts that C, Python and the page agree on. */
static const struct jdoc *vectors(const char *key, struct arena *mem)
{
    static struct jdoc all;
    struct file_map f;
    if (!CHECK_EQ_INT(file_map(&f, TEST_DATA "/../format_vectors.json", NULL), 0)) return NULL;
    CHECK_EQ_INT(jdoc_parse(str_from(f.p, f.n), mem, &all, NULL), 0);
    file_unmap(&f);
    const struct jdoc *found = jdoc_get(&all, key);
    CHECK(found && found->n > 5);
    return found;
}

static struct human write_time(double v)
{
    return human_time((int64_t)v);
}

static struct human write_bytes(double v)
{
    return human_bytes((int64_t)v);
}

static struct human write_count(double v)
{
    return human_count((uint64_t)v);
}

static void check_vectors(const char *key, struct human (*write)(double v))
{
    struct arena mem;
    arena_init(&mem);
    const struct jdoc *rows = vectors(key, &mem);
    for (uint32_t i = 0; rows && i < rows->n; i++) {
        const struct jdoc *row = rows->items[i].items;
        CHECK_EQ_STR(write(row[0].number).s, row[1].text.p);
    }
    arena_done(&mem);
}

TEST(numbers_are_written_as_everywhere)
{
    check_vectors("time_ns", write_time);
    check_vectors("bytes", write_bytes);
    check_vectors("count", write_count);
    check_vectors("pct", human_pct);
}

TEST(extremes_fit)
{
    CHECK(strlen(human_time(INT64_MIN).s) < sizeof(struct human));
    CHECK(strlen(human_time(INT64_MAX).s) < sizeof(struct human));
    CHECK_EQ_STR(human_bytes(INT64_MAX).s, "9.22 EB");
    CHECK_EQ_STR(human_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
    CHECK_EQ_STR(human_pct(NAN).s, "-");
    CHECK_EQ_STR(human_pct(INFINITY).s, "-");
}

TEST(one_unit_for_a_column)
{
    CHECK_EQ_STR(human_time_in(1234567, 0).s, "1234567 ns");
    CHECK_EQ_STR(human_time_in(1234567, 1).s, "1235 us");
    CHECK_EQ_STR(human_time_in(1234567, 2).s, "1.23 ms");
    CHECK_EQ_STR(human_time_in(12345678901, 3).s, "12.3 s");
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

TEST(lines_keep_breaks_and_colours_only)
{
    char text[] =
        "\033[1mbold\033[0m\tx\n\033]0;title\007\033[2J\xff\xe2\x80\xae caf\xc3\xa9\r\n\033[31";
    size_t n = human_clean_lines(text, sizeof text - 1, true);
    CHECK_EQ_BYTES(str_from(text, n), "\033[1mbold\033[0m\tx\n?]0;title??[2J?? caf\xc3\xa9?\n?[31");
    char plain[] = "\033[1mbold\n";
    n = human_clean_lines(plain, sizeof plain - 1, false);
    CHECK_EQ_BYTES(str_from(plain, n), "?[1mbold\n");
}

TEST(slower_by_percent_or_by_a_factor)
{
    CHECK_EQ_STR(human_longer(94).s, "94 % longer");
    CHECK_EQ_STR(human_longer(100).s, "2.0 times as long");
    CHECK_EQ_STR(human_longer(805).s, "9.1 times as long");
}

TEST_MAIN
