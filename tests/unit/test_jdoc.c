/* test_jdoc.c: what is JSON is read, what is not fails at the right byte. */
#include "base/jdoc.h"

#include "test.h"

static struct arena mem;

static int parse(const char *text, struct jdoc *d, struct err *e)
{
    err_init(e);
    return jdoc_parse(str_c(text), &mem, d, e);
}

TEST(everything_there_is)
{
    struct jdoc d;
    struct err e;
    REQUIRE(parse(" {\"a\": [1, -2.5e3, true, false, null], \"b\": {\"c\": "
                  "\"x\\n\\\"\\u00e9\\ud83d\\ude00\"},"
                  " \"empty\": {}, \"none\": []} \n",
                  &d, &e) == 0);
    const struct jdoc *a = jdoc_get(&d, "a");
    REQUIRE(a != NULL);
    CHECK_EQ_INT(a->kind, JDOC_ARRAY);
    CHECK_EQ_UINT(a->n, 5);
    CHECK_NEAR(a->items[1].number, -2500, 0);
    CHECK_EQ_INT(a->items[2].kind, JDOC_BOOL);
    CHECK(a->items[2].yes && !a->items[3].yes);
    CHECK_EQ_INT(a->items[4].kind, JDOC_NULL);
    CHECK_EQ_STR(jdoc_text(jdoc_get(&d, "b"), "c", ""), "x\n\"\xc3\xa9\xf0\x9f\x98\x80");
    CHECK_EQ_UINT(jdoc_get(&d, "empty")->n, 0);
    CHECK(jdoc_get(&d, "nothing") == NULL);
    CHECK(jdoc_get(a, "no object") == NULL);
    CHECK_NEAR(jdoc_number(jdoc_get(&d, "nothing"), "x", 7), 7, 0);
    arena_done(&mem);
}

/* As our own output writes the largest numbers: without an exponent, with decimals. */
TEST(a_number_may_have_hundreds_of_digits)
{
    char text[400];
    struct jdoc d;
    struct err e;
    snprintf(text, sizeof text, "%.6f", -1.7e308);
    REQUIRE(CHECK_EQ_INT(parse(text, &d, &e), 0));
    CHECK_NEAR(d.number / 1e308, -1.7, 1e-12);
    arena_done(&mem);
}

TEST(what_is_not_json)
{
    static const struct {
        const char *text;
        int64_t at;
    } cases[] = {
        {"", 0},           {"{", 1},       {"[1,]", 3},    {"[1 2]", 3},       {"{\"a\" 1}", 5},
        {"{a: 1}", 1},     {"\"open", 1},  {"\"\\x\"", 2}, {"\"\\u12g4\"", 5}, {"01x", 2},
        {"1e999", 0},      {"nul", 0},     {"[1] 2", 4},   {"\"a\nb\"", 2},    {"+1", 0},
        {"{\"a\":1,}", 7}, {"\"end\\", 1}, {"- 1", 0},     {".5", 0},          {"[\"a\", \"b", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct jdoc d;
        struct err e;
        if (!CHECK_EQ_INT(parse(cases[i].text, &d, &e), ERR_FORMAT)) printf("%s\n", cases[i].text);
        if (!CHECK_EQ_INT(e.offset, cases[i].at)) printf("%s\n", cases[i].text);
        arena_done(&mem);
    }
}

TEST(nesting_has_an_end)
{
    char deep[1001];
    memset(deep, '[', 1000);
    deep[1000] = 0;
    struct jdoc d;
    struct err e;
    CHECK_EQ_INT(parse(deep, &d, &e), ERR_FORMAT);
    arena_done(&mem);
}

/* Cut anywhere it fails, and reads nothing beyond its end (the sanitizer tells). */
TEST(cut_anywhere)
{
    static const char text[] =
        "{\"stages\":{\"a\":{\"count\":12,\"x\":\"\\u00e9\",\"l\":[true,null]}}}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *copy = mem_alloc(n);
        if (!copy) abort();
        memcpy(copy, text, n);
        struct jdoc d;
        struct err e;
        err_init(&e);
        CHECK_EQ_INT(jdoc_parse(str_from(copy, n), &mem, &d, &e), ERR_FORMAT);
        CHECK(e.offset >= 0 && e.offset <= (int64_t)n);
        mem_free(copy);
        arena_done(&mem);
    }
}

static int parse_again(void *ctx)
{
    struct arena a;
    arena_init(&a);
    struct jdoc d;
    int rc = jdoc_parse(str_c(ctx), &a, &d, NULL);
    arena_done(&a);
    return rc;
}

TEST(every_allocation_may_fail)
{
    char text[] = "{\"a\":[1,2,3],\"b\":{\"c\":\"d\"}}";
    CHECK_EVERY_ALLOC(parse_again, text);
}

TEST_MAIN
