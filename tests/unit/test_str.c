/* test_str.c: searching and comparing, on the edges: empty, absent, at the very end. */
#include "base/str.h"

#include "test.h"

static const struct str none = {NULL, 0};

TEST(equality)
{
    CHECK(str_eq(str_c("ab"), str_from("abc", 2)));
    CHECK(!str_eq(str_c("ab"), str_c("abc")));
    CHECK(!str_eq(str_c("ab"), str_c("ac")));
    CHECK(str_eq(none, str_c("")));
    CHECK(str_is(str_from("x\0y", 1), "x"));
    CHECK(!str_is(str_from("x\0y", 3), "x"));
}

TEST(beginnings_and_ends)
{
    CHECK(str_starts(str_c("ProfilerStep#3"), "ProfilerStep#"));
    CHECK(!str_starts(str_c("Profiler"), "ProfilerStep#"));
    CHECK(str_ends(str_c("trace.json.gz"), ".gz"));
    CHECK(!str_ends(str_c("gz"), ".gz"));
    CHECK(str_ends_in_one_of(str_c("x.json"), ".csv .json"));
    CHECK(str_ends_in_one_of(str_c("x.csv"), ".csv .json"));
    CHECK(!str_ends_in_one_of(str_c(".csv"), ".csv .json")); /* no name */
    CHECK(!str_ends_in_one_of(str_c("x.txt"), ".csv .json"));
    CHECK(str_starts(none, "") && str_ends(none, "") && str_has(none, ""));
    CHECK(!str_starts(none, "x") && !str_ends(none, "x") && !str_has(none, "x"));
}

TEST(finding)
{
    CHECK_EQ_INT(str_find(str_c("aaab"), "aab"), 1);
    CHECK_EQ_INT(str_find(str_c("abc"), "abc"), 0);
    CHECK_EQ_INT(str_find(str_c("abc"), "abcd"), -1);
    CHECK_EQ_INT(str_find(str_from("abcd", 3), "d"), -1);
    CHECK_EQ_INT(str_find(str_c("xyz"), "z"), 2);
    CHECK_EQ_INT(str_find(str_c("xyz"), ""), 0);
    CHECK_EQ_INT(str_find(none, "a"), -1);
    CHECK_EQ_INT(str_find(str_from("\0\0ab", 4), "ab"), 2);
}

TEST(trimming)
{
    CHECK_EQ_BYTES(str_trim(str_c(" \t a b \n")), "a b");
    CHECK_EQ_BYTES(str_trim(str_c("   ")), "");
    CHECK_EQ_BYTES(str_trim(str_c("x")), "x");
}

TEST(order)
{
    CHECK(str_cmp(str_c("a"), str_c("b")) < 0);
    CHECK(str_cmp(str_c("b"), str_c("a")) > 0);
    CHECK(str_cmp(str_c("a"), str_c("ab")) < 0);
    CHECK(str_cmp(str_c("ab"), str_c("a")) > 0);
    CHECK_EQ_INT(str_cmp(str_c("ab"), str_c("ab")), 0);
    CHECK_EQ_INT(str_cmp(none, none), 0);
    CHECK(str_cmp(str_c("\x7f"), str_c("\x80")) < 0);
}

TEST_MAIN
