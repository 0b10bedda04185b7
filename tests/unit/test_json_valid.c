/* test_json_valid.c: what is JSON, what is not, and that repair always gives what is. */
#include "base/json_valid.h"

#include "export/export_private.h"
#include "test.h"

static const char *const good[] = {
    "{}",
    "[]",
    " { } ",
    "null",
    "true",
    "-0",
    "0",
    "12",
    "-1.5e-10",
    "1E+3",
    "\"\"",
    "\"a\\n\\u00e9\\\"\\\\/\"",
    "\"\xc3\xa9\"",
    "{\"a\":1,\"b\":[1,2,{\"c\":null}],\"d\":\"x\"}",
    "[ 1 , \"two\"\n,\t[ ] ]",
    "18446744073709551616",
};

static const char *const bad[] = {
    "",           " ",      "{",         "}",         "{\"a\"}",
    "{\"a\":}",   "{a:1}",  "{'a':1}",   "[1,]",      "[1 2]",
    "{\"a\":1,}", "01",     "1.",        ".5",        "+1",
    "-",          "1e",     "tru",       "nul",       "N/A",
    "nan",        "inf",    "\"",        "\"a",       "\"\\x\"",
    "\"\\u12\"",  "\"\n\"", "\"\xff\"",  "\"\xc3\"",  "\"\xed\xa0\x80\"",
    "{} {}",      "1 2",    "[\"a\":1]", "{\"a\" 1}", "{\"a\":1 \"b\":2}",
    "\"a\"b\"",
};

TEST(tells_good_from_bad)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!json_valid(str_c(good[i]))) test_fail(__FILE__, __LINE__, "refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (json_valid(str_c(bad[i]))) test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
    CHECK(!json_valid(str_from("\"\0\"", 3)));
    CHECK(!json_valid(str_from("\0", 1)));
}

static struct str nested(struct buf *b, int depth)
{
    buf_reset(b);
    buf_pad(b, '[', depth);
    buf_pad(b, ']', depth);
    return buf_str(b);
}

TEST(depth_has_a_limit)
{
    struct buf b = {0}, out = {0};
    CHECK(json_valid(nested(&b, JSON_VALID_DEPTH)));
    CHECK(!json_valid(nested(&b, JSON_VALID_DEPTH + 1)));
    json_repair(nested(&b, 100000), &out);
    CHECK(json_valid(buf_str(&out)));
    buf_done(&b);
    buf_done(&out);
}

static void check_repair(const char *in, const char *want)
{
    struct buf out = {0};
    json_repair(str_c(in), &out);
    CHECK_EQ_STR(buf_c(&out), want);
    CHECK(json_valid(buf_str(&out)));
    buf_done(&out);
}

TEST(repairs)
{
    check_repair("{\"a\": 1}", "{\"a\":1}");
    check_repair("{\"a\": N/A, \"b\": nan}", "{\"a\":\"N/A\",\"b\":\"nan\"}");
    check_repair("{\"a\": 1,}", "{\"a\":1}");
    check_repair("[1,,2]", "[1,2]");
    check_repair("{\"path\": \"C:\\dir\\x\"}", "{\"path\":\"C:\\\\dir\\\\x\"}");
    check_repair("{\"name\": \"say \"hi\" now\"}", "{\"name\":\"say \\\"hi\\\" now\"}");
    check_repair("{\"a\": \"tab\there\"}", "{\"a\":\"tab\\u0009here\"}");
    check_repair("{\"a\": \"\xff\"}", "{\"a\":\"\xef\xbf\xbd\"}");
    check_repair("{\"a\": [1, {\"b\": 2", "{\"a\":[1,{\"b\":2}]}");
    check_repair("{\"a\": \"cut", "{\"a\":\"cut\"}");
    check_repair("{a: 1}", "{\"a\":1}");
    check_repair("{\"a\"}", "{\"a\":null}");
    check_repair("", "null");
    check_repair("{\"a\": 1} trailing", "{\"a\":1}");
}

/* Whatever bytes come in, JSON comes out. */
TEST(repair_of_anything_is_valid)
{
    static const char alphabet[] = "{}[]\",:\\ 01.eau-\n\xc3\xa9\xff\0";
    uint64_t random = 1;
    struct buf out = {0};
    for (int round = 0; round < 20000; round++) {
        char text[24];
        size_t n = (size_t)round % sizeof text;
        for (size_t i = 0; i < n; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            text[i] = alphabet[(random >> 33) % (sizeof alphabet - 1)];
        }
        buf_reset(&out);
        json_repair(str_from(text, n), &out);
        if (!json_valid(buf_str(&out)))
            test_fail(__FILE__, __LINE__, "round %d: %s", round, buf_c(&out));
    }
    buf_done(&out);
}

TEST_MAIN
