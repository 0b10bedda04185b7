/* test_jout.c: commas, nesting, exact numbers, and strings that want to break out. */
#include "base/jout.h"

#include "test.h"

static struct buf b;
static struct jout j;

static void begin(bool pretty)
{
    buf_init(&b);
    jout_init(&j, &b, pretty);
}

static void check(const char *want)
{
    CHECK_EQ_STR(buf_c(&b), want);
    buf_done(&b);
}

TEST(all_kinds_of_values)
{
    begin(false);
    jout_obj(&j, NULL);
    jout_str(&j, "s", str_c("text"));
    jout_cstr(&j, "none", NULL);
    jout_int(&j, "least", INT64_MIN);
    jout_uint(&j, "most", UINT64_MAX);
    jout_num(&j, "n", 1.005, 2);
    jout_num(&j, "nan", NAN, 2);
    jout_num(&j, "inf", -INFINITY, 2);
    jout_bool(&j, "yes", true);
    jout_null(&j, "null");
    jout_raw(&j, "raw", str_c("[1]"));
    jout_arr(&j, "list");
    jout_int(&j, NULL, 1);
    jout_int(&j, NULL, 2);
    jout_arr(&j, NULL);
    jout_end_arr(&j);
    jout_end_arr(&j);
    jout_obj(&j, "empty");
    jout_end_obj(&j);
    jout_end_obj(&j);
    check("{\"s\":\"text\",\"none\":null,\"least\":-9223372036854775808,"
          "\"most\":18446744073709551615,\"n\":1.00,\"nan\":null,\"inf\":null,\"yes\":true,"
          "\"null\":null,\"raw\":[1],\"list\":[1,2,[]],\"empty\":{}}");
}

TEST(pretty)
{
    begin(true);
    jout_obj(&j, NULL);
    jout_int(&j, "a", 1);
    jout_arr(&j, "b");
    jout_obj(&j, NULL);
    jout_bool(&j, "c", false);
    jout_end_obj(&j);
    jout_end_arr(&j);
    jout_arr(&j, "d");
    jout_end_arr(&j);
    jout_end_obj(&j);
    check("{\n  \"a\": 1,\n  \"b\": [\n    {\n      \"c\": false\n    }\n  ],\n  \"d\": []\n}\n");
}

TEST(microseconds_are_exact)
{
    begin(false);
    jout_arr(&j, NULL);
    jout_us(&j, NULL, 0);
    jout_us(&j, NULL, 1);
    jout_us(&j, NULL, -1);
    jout_us(&j, NULL, 1234567);
    jout_us(&j, NULL, -1234567);
    jout_us(&j, NULL, INT64_MAX);
    jout_us(&j, NULL, INT64_MIN);
    jout_end_arr(&j);
    check("[0.000,0.001,-0.001,1234.567,-1234.567,9223372036854775.807,-9223372036854775.808]");
}

/* {"n": 4, "a": [1, 2, 3], "rows": [{"v": [0, 1, 2]}, {"v": []}, {}, {"t": TEXT}],
 *  "of": {"rows": [7, 8, 9]}, "raw": [[1, 2, 3]]} */
static const char *page_of(struct jout_page *p, const char *text)
{
    static struct buf out;
    struct jout w;
    buf_done(&out);
    buf_init(&out);
    jout_init_page(&w, &out, p);
    jout_obj(&w, NULL);
    jout_int(&w, "n", 4);
    jout_arr(&w, "a");
    for (int i = 1; i <= 3; i++) jout_int(&w, NULL, i);
    jout_end_arr(&w);
    jout_arr(&w, "rows");
    for (int i = 0; i < 4; i++) {
        if (i == 0 && jout_skips(&w, NULL)) continue;
        jout_obj(&w, NULL);
        if (i < 2) jout_arr(&w, "v");
        for (int k = 0; i == 0 && k < 3; k++) jout_int(&w, NULL, k);
        if (i < 2) jout_end_arr(&w);
        if (i == 3) jout_cstr(&w, "t", text);
        jout_end_obj(&w);
    }
    jout_end_arr(&w);
    jout_obj(&w, "of");
    jout_arr(&w, "rows");
    for (int i = 7; i <= 9; i++) jout_int(&w, NULL, i);
    jout_end_arr(&w);
    jout_end_obj(&w);
    jout_raw(&w, "raw", str_c("[[1, 2, 3]]"));
    jout_end_obj(&w);
    return buf_c(&out);
}

TEST(a_page_of_the_main_list)
{
    struct jout_page p = {.list = "rows", .limit = 2, .others = 9, .inner = 9};
    CHECK_EQ_STR(page_of(&p, ""),
                 "{\"n\":4,\"a\":[1,2,3],\"rows\":[{\"number\":1,\"v\":[0,1,2]},{\"number\":2,"
                 "\"v\":[]}],\"of\":{\"rows\":[7,8,9]},\"raw\":[[1,2,3]],"
                 "\"left_out\":{\"rows\":{\"shown\":2,\"of\":4,\"next_offset\":2}}}");
    CHECK_EQ_UINT(p.n, 4);
    p.offset = 2;
    CHECK(strstr(page_of(&p, "x"), "\"rows\":[{\"number\":3},{\"number\":4,\"t\":\"x\"}],"));
    CHECK(strstr(page_of(&p, "x"), ",\"left_out\":{\"rows\":{\"shown\":2,\"of\":4}}}"));
    p.offset = UINT32_MAX;
    CHECK(strstr(page_of(&p, "x"), "\"rows\":[],"));
    CHECK(strstr(page_of(&p, "x"), ",\"left_out\":{\"rows\":{\"shown\":0,\"of\":4}}}"));
    p.offset = 0;
    p.limit = 4;
    CHECK(!strstr(page_of(&p, "x"), "left_out"));
}

TEST(other_lists_hidden_lists_and_lists_inside)
{
    struct jout_page p = {.list = "rows", .hidden = "a", .limit = 4, .others = 1, .inner = 2};
    CHECK_EQ_STR(
        page_of(&p, ""),
        "{\"n\":4,\"a\":[],\"rows\":[{\"number\":1,\"v\":[0,1]},{\"number\":2,\"v\":[]},"
        "{\"number\":3},{\"number\":4,\"t\":\"\"}],\"of\":{\"rows\":[7,8]},"
        "\"raw\":[[1,2]],\"left_out\":{\"a\":{\"shown\":0,\"of\":3},\"cut_inside\":true}}");
    p.hidden = NULL;
    CHECK(strstr(page_of(&p, ""), "\"a\":[1],"));
}

TEST(one_entry_alone)
{
    struct jout_page p = {.list = "rows", .limit = 1, .inner = UINT32_MAX, .alone = true};
    CHECK_EQ_STR(page_of(&p, ""), "{\"number\":1,\"v\":[0,1,2]}");
    p.offset = 3;
    CHECK_EQ_STR(page_of(&p, "t"), "{\"number\":4,\"t\":\"t\"}");
    p.offset = 4;
    CHECK_EQ_STR(page_of(&p, "t"), "");
    CHECK_EQ_UINT(p.n, 4);
    p.list = "none";
    CHECK_EQ_STR(page_of(&p, "t"), "");
    CHECK_EQ_UINT(p.n, 0);
}

TEST(long_texts_are_cut_between_characters)
{
    struct jout_page p = {.list = "rows", .limit = 1, .offset = 3, .most_bytes = 6, .alone = true};
    CHECK_EQ_STR(page_of(&p, "123456"), "{\"number\":4,\"t\":\"123456\"}");
    CHECK(!p.left_inside);
    CHECK_EQ_STR(page_of(&p, "1234567"), "{\"number\":4,\"t\":\"123...567\"}");
    CHECK(p.left_inside);
    CHECK_EQ_STR(page_of(&p, "12\xc3\xa9"
                             "45\xc3\xa9"
                             "78"),
                 "{\"number\":4,\"t\":\"12...78\"}");
    CHECK_EQ_STR(page_of(&p, "12\"4567\n"), "{\"number\":4,\"t\":\"12\\\"...67\\n\"}");
}

/* JSON is printed to terminals too; escaped it says the same. */
TEST(what_a_terminal_obeys_is_escaped)
{
    begin(false);
    jout_str(&j, NULL,
             str_c("a\x7f"
                   "b\xc2\x9b"
                   "31m\xe2\x80\xae"
                   "c\xd8\x9c"
                   "d\xc3\xa9"));
    check("\"a\\u007fb\\u009b31m\\u202ec\\u061cd\xc3\xa9\"");
}

TEST(hostile_strings)
{
    begin(false);
    jout_quote(&b, str_c("\"\\/\b\t\n\r\x01\x1f\x7f"));
    check("\"\\\"\\\\/\\u0008\\t\\n\\u000d\\u0001\\u001f\\u007f\"");
    begin(false);
    jout_quote(&b, str_from("nul\0in", 6));
    check("\"nul\\u0000in\"");
    begin(false);
    jout_quote(&b, str_c("größe 🚀 \xff\xc3(\xed\xa0\x80"));
    check("\"größe 🚀 \xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    begin(false);
    jout_quote(&b, str_from(NULL, 0));
    check("\"\"");
    begin(false);
    jout_obj(&j, NULL);
    jout_int(&j, "key \"x\"", 1);
    jout_end_obj(&j);
    check("{\"key \\\"x\\\"\":1}");
}

TEST_MAIN
