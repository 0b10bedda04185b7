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

TEST(hostile_strings)
{
    begin(false);
    jout_quote(&b, str_c("\"\\/\b\t\n\r\x01\x1f\x7f"));
    check("\"\\\"\\\\/\\u0008\\t\\n\\u000d\\u0001\\u001f\x7f\"");
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
