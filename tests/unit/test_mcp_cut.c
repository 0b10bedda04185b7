/* test_mcp_cut.c: pages of lists, numbers that stay, texts cut where it does no harm. */
#include "cli/mcp_cut.h"

#include "test.h"

static const char *cut(const char *doc, struct mcp_cut how)
{
    static struct buf out;
    buf_done(&out);
    buf_init(&out);
    mcp_cut(str_c(doc), &how, &out);
    return buf_c(&out);
}

TEST(a_page_of_the_main_list)
{
    const char *doc = "{ \"n\": 3,\n \"rows\": [ {\"a\": 1}, {\"a\": 2}, {}, {\"a\": 4} ] }";
    CHECK_EQ_STR(cut(doc, (struct mcp_cut){.list = "rows", .limit = 2}),
                 "{\"n\":3,\"rows\":[{\"number\":1,\"a\":1},{\"number\":2,\"a\":2}],"
                 "\"left_out\":{\"rows\":{\"shown\":2,\"of\":4,\"next_offset\":2}}}");
    CHECK_EQ_STR(cut(doc, (struct mcp_cut){.list = "rows", .offset = 2, .limit = 2}),
                 "{\"n\":3,\"rows\":[{\"number\":3},{\"number\":4,\"a\":4}],"
                 "\"left_out\":{\"rows\":{\"shown\":2,\"of\":4}}}");
    CHECK_EQ_STR(cut(doc, (struct mcp_cut){.list = "rows", .limit = 4}),
                 "{\"n\":3,\"rows\":[{\"number\":1,\"a\":1},{\"number\":2,\"a\":2},{\"number\":3},"
                 "{\"number\":4,\"a\":4}]}");
    CHECK_EQ_STR(cut(doc, (struct mcp_cut){.list = "rows", .offset = 9, .limit = 4}),
                 "{\"n\":3,\"rows\":[],\"left_out\":{\"rows\":{\"shown\":0,\"of\":4}}}");
    CHECK_EQ_STR(cut(doc, (struct mcp_cut){.list = "rows", .offset = UINT32_MAX, .limit = 4}),
                 "{\"n\":3,\"rows\":[],\"left_out\":{\"rows\":{\"shown\":0,\"of\":4}}}");
}

TEST(other_lists_hidden_lists_and_lists_inside)
{
    const char *doc = "{\"a\":[1,2,3],\"b\":[4,5],\"c\":{\"d\":[6,7,8]},\"rows\":[[9,10,11]]}";
    struct mcp_cut how = {.list = "rows", .hidden = "b", .limit = 9, .others = 2, .inner = 2};
    CHECK_EQ_STR(cut(doc, how), "{\"a\":[1,2],\"b\":[],\"c\":{\"d\":[6,7]},\"rows\":[[9,10]],"
                                "\"left_out\":{\"a\":{\"shown\":2,\"of\":3},\"b\":{\"shown\":0,"
                                "\"of\":2},\"cut_inside\":true}}");
    CHECK_EQ_STR(cut("{}", how), "{}");
    CHECK_EQ_STR(cut("{\"rows\":[]}", how), "{\"rows\":[]}");
}

TEST(long_texts)
{
    struct mcp_cut how = {.most_bytes = 6};
    CHECK_EQ_STR(cut("{\"a\":\"123456\"}", how), "{\"a\":\"123456\"}");
    CHECK_EQ_STR(cut("{\"a\":\"12345678\"}", how),
                 "{\"a\":\"123...678\",\"left_out\":{\"cut_inside\":true}}");
    /* no half of an escape or of a character */
    CHECK_EQ_STR(cut("{\"a\":\"12\\\"45678\\n\"}", how),
                 "{\"a\":\"12...8\\n\",\"left_out\":{\"cut_inside\":true}}");
    CHECK_EQ_STR(cut("{\"a\":\"12\xc3\xa9"
                     "5678\"}",
                     how),
                 "{\"a\":\"12...678\",\"left_out\":{\"cut_inside\":true}}");
    CHECK_EQ_STR(cut("{\"a\":\"1\\u000a45678\"}", how),
                 "{\"a\":\"1...678\",\"left_out\":{\"cut_inside\":true}}");
}

TEST(one_entry_in_full)
{
    const char *doc = "{\"x\":{\"rows\":[0]},\"rows\":[{\"a\":[1,2,3]},{\"b\":\"]},{\"}]}";
    struct buf out = {0};
    uint32_t of;
    CHECK(mcp_cut_pick(str_c(doc), "rows", 2, &out, &of));
    CHECK_EQ_STR(buf_c(&out), "{\"number\":2,\"b\":\"]},{\"}");
    CHECK_EQ_UINT(of, 2);
    CHECK(!mcp_cut_pick(str_c(doc), "rows", 3, &out, &of));
    CHECK_EQ_UINT(of, 2);
    CHECK(!mcp_cut_pick(str_c(doc), "rows", 0, &out, &of));
    CHECK(!mcp_cut_pick(str_c(doc), "none", 1, &out, &of));
    CHECK_EQ_UINT(of, 0);
    buf_done(&out);
}

TEST(what_is_not_json_ends)
{
    static const char *const docs[] = {
        "",       "{",  "[",         "{\"a\":[1,2", "{\"a\":[}",      "{\"rows\":[{\"a\"",
        "[[[[[[", "\"", "{\"a\" 1}", "nonsense",    "{\"rows\":[,,]}"};
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        CHECK(cut(docs[i], (struct mcp_cut){.list = "rows", .limit = 1, .inner = 1}) != NULL);
}

TEST_MAIN
