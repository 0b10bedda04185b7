/* test_text.c: tables as they stand on the screen. */
#include "base/text.h"

#include "base/utf8.h"
#include "test.h"

static struct text_table t;
static struct buf out;

static void begin(void)
{
    text_table_init(&t);
    buf_init(&out);
    text_table_col(&t, "name", TEXT_LEFT);
    text_table_col(&t, "calls", TEXT_RIGHT);
    text_table_col(&t, "launched by", TEXT_LEFT);
}

static void row(const char *name, int calls, const char *by)
{
    text_table_row(&t, TEXT_PLAIN);
    text_table_cell(&t, 0, name);
    text_table_cellf(&t, 1, "%d", calls);
    text_table_cell(&t, 2, by);
}

static void check(int width, bool color, const char *want)
{
    text_table_print(&t, &out, 2, width, color);
    CHECK_EQ_STR(buf_c(&out), want);
    text_table_done(&t);
    buf_done(&out);
}

TEST(columns_line_up)
{
    begin();
    row("gemm", 7, "aten::mm");
    row("größe_kernel", 12345, "aten::add");
    check(100, false,
          "  name          calls  launched by\n"
          "  gemm              7  aten::mm\n"
          "  größe_kernel  12345  aten::add\n");
}

TEST(no_rows_and_missing_cells)
{
    begin();
    text_table_row(&t, TEXT_PLAIN);
    text_table_cell(&t, 1, "5");
    text_table_cell(&t, 7, "no such column");
    check(100, false,
          "  name  calls  launched by\n"
          "            5\n");
    begin();
    text_table_cell(&t, 0, "before any row");
    check(100, false, "  name  calls  launched by\n");
}

TEST(long_names_give_way_the_first_column_first)
{
    begin();
    row("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl>", 1,
        "aten::scaled_dot_product_attention");
    check(70, false,
          "  name                       calls  launched by\n"
          "  void at:...u_kernel_impl>      1  aten::scaled_dot_product_attention\n");
}

TEST(heads_are_cut_last)
{
    for (int width = 60; width >= 56; width -= 4) {
        text_table_init(&t);
        buf_init(&out);
        text_table_col(&t, "looks slow and is not", TEXT_LEFT);
        text_table_col(&t, "where", TEXT_LEFT);
        text_table_row(&t, TEXT_PLAIN);
        text_table_cell(&t, 0, "a_name_that_is_longer_than_its_head");
        text_table_cell(&t, 1, "pipeline.py:1100 in index_for_timestep");
        text_table_print(&t, &out, 2, width, false);
        CHECK(strncmp(buf_c(&out), "  looks slow and is not  where\n", 31) == 0);
        text_table_done(&t);
        buf_done(&out);
    }
}

TEST(no_line_is_wider_than_asked)
{
    for (int width = 50; width < 120; width++) {
        begin();
        row("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl>", 123456,
            "aten::_scaled_dot_product_efficient_attention_backward");
        text_table_print(&t, &out, 2, width, false);
        struct str rest = buf_str(&out);
        while (rest.n) {
            const char *end = memchr(rest.p, '\n', rest.n);
            REQUIRE(end != NULL);
            CHECK(utf8_width(str_from(rest.p, (size_t)(end - rest.p))) <= width);
            rest = str_from(end + 1, rest.n - (size_t)(end + 1 - rest.p));
        }
        text_table_done(&t);
        buf_done(&out);
    }
}

TEST(cells_longer_than_any_buffer_are_kept_whole)
{
    static char name[3000];
    memset(name, 'k', sizeof name - 1);
    begin();
    text_table_row(&t, TEXT_PLAIN);
    text_table_cellf(&t, 0, "%s", name);
    text_table_print(&t, &out, 0, 10000, false);
    CHECK(strstr(buf_c(&out), name) != NULL);
    text_table_done(&t);
    buf_done(&out);
}

TEST(escapes_in_names_never_reach_the_terminal)
{
    begin();
    row("a\x1b[2Jb", 1, "c\x1b]0;x\x07");
    check(100, true,
          "\033[2m  name    calls  launched by\033[0m\n"
          "  a?[2Jb      1  c?]0;x?\n");
}

TEST(styles)
{
    begin();
    text_table_row(&t, TEXT_RED);
    text_table_cell(&t, 0, "hot");
    check(100, true,
          "\033[2m  name  calls  launched by\033[0m\n"
          "\033[31m  hot\033[0m\n");
    buf_init(&out);
    text_styled(&out, TEXT_BOLD, true, "x");
    text_styled(&out, TEXT_BOLD, false, "y");
    text_styled(&out, TEXT_PLAIN, true, "z");
    CHECK_EQ_STR(buf_c(&out), "\033[1mx\033[0myz");
    buf_done(&out);
}

static void check_wrap(const char *text, int indent, int width, const char *want)
{
    buf_init(&out);
    text_wrap(&out, text, indent, width);
    CHECK_EQ_STR(buf_c(&out), want);
    buf_done(&out);
}

TEST(wrapping)
{
    check_wrap("", 0, 20, "\n");
    check_wrap("one two three", 0, 20, "one two three\n");
    check_wrap("one two three", 0, 13, "one two three\n");
    check_wrap("one two three", 0, 12, "one two\nthree\n");
    check_wrap("one two three", 4, 11, "one two\n    three\n");
    check_wrap("one\ntwo\n", 2, 20, "one\n  two\n");
    check_wrap("averyveryverylongword x", 0, 8, "averyveryverylongword\nx\n");
    check_wrap("größe größe", 0, 11, "größe größe\n");
}

TEST(a_number_keeps_its_unit)
{
    check_wrap("takes 8.37 ms here", 0, 11, "takes\n8.37 ms\nhere\n");
    check_wrap("takes 8.37 ms, or", 0, 14, "takes 8.37 ms,\nor\n");
    check_wrap("busy 43.8 %.", 0, 10, "busy\n43.8 %.\n");
    check_wrap("of 12 msgs", 0, 6, "of 12\nmsgs\n");
    check_wrap("ends in 5", 0, 8, "ends in\n5\n");
}

static int table(void *ctx)
{
    begin();
    for (int i = 0; i < 100; i++) row("some kernel with a name", i, "some op");
    text_table_print(&t, &out, 2, 100, false);
    int rc = buf_ok(&out) ? 0 : -1;
    text_table_done(&t);
    buf_done(&out);
    return rc;
}

TEST(out_of_memory)
{
    CHECK_EVERY_ALLOC(table, NULL);
}

TEST_MAIN
