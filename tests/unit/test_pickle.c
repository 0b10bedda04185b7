/* test_pickle.c: plain values are made, everything else is refused where it stands. */
#include "import/snapshot/pickle.h"

#include "test.h"

static struct arena mem;
static struct err e;

static int read_bytes(const char *bytes, size_t n, struct pickle_value *ret)
{
    err_init(&e);
    return pickle_read(str_from(bytes, n), &mem, ret, &e);
}

#define READ(text, ret) read_bytes("\x80\x04" text, sizeof("\x80\x04" text) - 1, ret)

TEST(numbers)
{
    static const struct {
        const char *bytes;
        size_t n;
        int64_t want;
    } cases[] = {
#define CASE(text, want) {"\x80\x04" text ".", sizeof("\x80\x04" text ".") - 1, want}
        CASE("K\x07", 7),
        CASE("M\xff\xff", 65535),
        CASE("J\xff\xff\xff\xff", -1),
        CASE("J\x00\x00\x00\x80", INT32_MIN),
        CASE("\x88", 1),
        CASE("\x89", 0),
        CASE("\x8a\x00", 0),
        CASE("\x8a\x01\xff", -1),
        CASE("\x8a\x05\x00\x00\x00\x00\x01", (int64_t)1 << 32),
        CASE("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80", INT64_MIN),
        CASE("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00", -1), /* an address of 64 bits */
        CASE("\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", INT64_MAX),
        CASE("\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff", INT64_MIN),
        CASE("\x8b\x02\x00\x00\x00\x00\x01", 256),
#undef CASE
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pickle_value v = {.kind = 99};
        if (CHECK_EQ_INT(read_bytes(cases[i].bytes, cases[i].n, &v), 0))
            CHECK_EQ_INT(v.integer, cases[i].want);
    }
    struct pickle_value v;
    REQUIRE(READ("G\x3f\xf8\x00\x00\x00\x00\x00\x00.", &v) == 0);
    CHECK(v.kind == PICKLE_FLOAT);
    CHECK_NEAR(v.number, 1.5, 0);
    arena_done(&mem);
}

TEST(lists_dicts_and_the_memo)
{
    struct pickle_value v;
    uint32_t n;
    /* {"a": [1, (2, 3), 1], "b": that list again} */
    REQUIRE(READ("}\x94(\x8c\x01"
                 "a]\x94(K\x01K\x02K\x03\x86K\x01"
                 "e\x8c\x01"
                 "bh\x01u.",
                 &v) == 0);
    CHECK_EQ_INT(v.kind, PICKLE_DICT);
    const struct pickle_value *a = pickle_get(&v, "a"), *b = pickle_get(&v, "b");
    REQUIRE(a && b && a->list == b->list);
    const struct pickle_value *items = pickle_items(a, &n);
    CHECK_EQ_UINT(n, 3);
    CHECK_EQ_INT(items[1].kind, PICKLE_LIST);
    CHECK_EQ_INT(items[1].list->items[1].integer, 3);
    CHECK(pickle_get(&v, "c") == NULL && pickle_get(a, "a") == NULL &&
          pickle_get(NULL, "a") == NULL);
    CHECK_EQ_INT(pickle_int(&v, "a", 5), 5);
    CHECK_EQ_UINT(pickle_text(&v, "a").n, 0);
    /* a list in itself */
    REQUIRE(READ("]\x94h\x00"
                 "a.",
                 &v) == 0);
    CHECK(v.list->items[0].list == v.list);
    arena_done(&mem);
}

TEST(what_would_call_something)
{
    static const struct {
        const char *bytes;
        size_t n;
        int64_t offset;
    } cases[] = {
#define CASE(text, at) {"\x80\x04" text, sizeof("\x80\x04" text) - 1, at}
        CASE("cos\nsystem\n(\x8c\x02idtR.", 2),
        CASE("\x8c\x02os\x8c\x06system\x93.", 14),
        CASE("N)R.", 4),
        CASE("N)\x81.", 4),
        CASE("NNb.", 4),
        CASE("(N)o.", 5),
        CASE("ios\nx\n.", 2),
        CASE("P0\n.", 2),
        CASE("NQ.", 3),
        CASE("\x82\x01.", 2),
        CASE("\x97.", 2),
        CASE("N\x98.", 3),
        CASE("I1\n.", 2),
#undef CASE
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pickle_value v;
        CHECK_EQ_INT(read_bytes(cases[i].bytes, cases[i].n, &v), ERR_FORMAT);
        CHECK_EQ_INT(e.offset, cases[i].offset);
    }
    arena_done(&mem);
}

TEST(what_is_broken)
{
    struct pickle_value v;
    CHECK_EQ_INT(read_bytes("", 0, &v), ERR_FORMAT);
    CHECK_EQ_INT(read_bytes("\x80\x01N.", 4, &v), ERR_FORMAT);
    CHECK_EQ_INT(READ(".", &v), ERR_FORMAT);      /* nothing made */
    CHECK_EQ_INT(READ("NN.", &v), ERR_FORMAT);    /* two things */
    CHECK_EQ_INT(READ("(N.", &v), ERR_FORMAT);    /* a mark left */
    CHECK_EQ_INT(READ("N(0.", &v), ERR_FORMAT);   /* below a mark */
    CHECK_EQ_INT(READ("e.", &v), ERR_FORMAT);     /* no mark */
    CHECK_EQ_INT(READ("N(Ne.", &v), ERR_FORMAT);  /* None is no list */
    CHECK_EQ_INT(READ("}(Nu.", &v), ERR_FORMAT);  /* half an entry */
    CHECK_EQ_INT(READ("h\x05.", &v), ERR_FORMAT); /* never kept */
    CHECK_EQ_INT(READ("Nr\xff\xff\xff\x7f.", &v), ERR_FORMAT);
    CHECK_EQ_INT(READ("X\xff\xff\xff\xff.", &v), ERR_FORMAT);
    CHECK_EQ_INT(READ("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", &v), ERR_FORMAT);
    CHECK_EQ_INT(READ("\x8b\xff\xff\xff\xff.", &v), ERR_FORMAT);
    CHECK_EQ_INT(READ("N", &v), ERR_FORMAT);
    CHECK(strstr(e.msg, "cut short") != NULL);
    arena_done(&mem);
}

static int read_once(void *ctx)
{
    static const char text[] = "\x80\x04}\x94(\x8c\x01"
                               "a]\x94(K\x01K\x02"
                               "eu.";
    struct pickle_value v;
    struct arena own;
    (void)ctx;
    arena_init(&own);
    int rc = pickle_read(str_from(text, sizeof text - 1), &own, &v, NULL);
    arena_done(&own);
    return rc;
}

TEST(memory_runs_out)
{
    CHECK_EVERY_ALLOC(read_once, NULL);
}

TEST_MAIN
