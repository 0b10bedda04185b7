/* test_intern.c: the same bytes, the same id; ids dense from 0; hostile bytes; running out. */
#include "base/intern.h"

#include "test.h"

TEST(the_empty_string_is_id_zero)
{
    struct intern t;
    REQUIRE(!intern_init(&t));
    CHECK_EQ_UINT(t.n, 1);
    CHECK_EQ_UINT(intern_add(&t, str_c("")), 0);
    CHECK_EQ_UINT(intern_add(&t, str_from(NULL, 0)), 0);
    CHECK_EQ_BYTES(intern_get(&t, 0), "");
    intern_done(&t);
}

TEST(ids_are_dense_and_stable)
{
    enum { N = 5000 };
    struct intern t;
    char name[32];
    REQUIRE(!intern_init(&t));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < N; i++) {
            snprintf(name, sizeof name, "aten::op_%d", i);
            REQUIRE(CHECK_EQ_UINT(intern_add(&t, str_c(name)), (uint64_t)i + 1));
        }
    CHECK_EQ_UINT(t.n, N + 1);
    CHECK_EQ_BYTES(intern_get(&t, 4000), "aten::op_3999");
    CHECK_EQ_INT(intern_get(&t, 4000).p[13], '\0');
    CHECK_EQ_UINT(intern_find(&t, str_c("aten::op_17")), 18);
    CHECK_EQ_UINT(intern_find(&t, str_c("aten::op")), STR_NONE);
    intern_done(&t);
}

TEST(strings_that_differ_in_one_place)
{
    struct intern t;
    REQUIRE(!intern_init(&t));
    char text[40] = {0};
    uint32_t want = 1;
    for (size_t len = 1; len <= sizeof text; len++) /* also tells lengths of zeros apart */
        CHECK_EQ_UINT(intern_add(&t, str_from(text, len)), want++);
    for (size_t at = 0; at < sizeof text; at++) {
        text[at] = 1;
        CHECK_EQ_UINT(intern_add(&t, str_from(text, sizeof text)), want++);
        text[at] = 0;
    }
    intern_done(&t);
}

TEST(equal_hashes_are_told_apart_by_bytes)
{
    struct intern t;
    REQUIRE(!intern_init(&t));
    str_id a = intern_add_hashed(&t, str_c("a"), 42);
    str_id b = intern_add_hashed(&t, str_c("b"), 42);
    CHECK(a != b);
    CHECK_EQ_UINT(intern_add_hashed(&t, str_c("a"), 42), a);
    CHECK_EQ_UINT(intern_add_hashed(&t, str_c("b"), 42), b);
    intern_done(&t);
}

TEST(appending_gives_every_string_an_id_of_its_own)
{
    struct intern t;
    REQUIRE(!intern_init(&t));
    CHECK_EQ_UINT(intern_append(&t, str_c("a")), 1);
    CHECK_EQ_UINT(intern_append(&t, str_c("")), 2);
    CHECK_EQ_UINT(intern_append(&t, str_c("a")), 3);
    for (uint32_t i = 4; i < 3000; i++) CHECK_EQ_UINT(intern_append(&t, str_c("again")), i);
    CHECK_EQ_UINT(intern_add(&t, str_c("a")), 1);
    CHECK_EQ_UINT(intern_find(&t, str_c("again")), 4);
    CHECK_EQ_UINT(intern_find(&t, str_c("")), 0);
    intern_done(&t);
}

TEST(unknown_ids_are_the_empty_string)
{
    struct intern t;
    REQUIRE(!intern_init(&t));
    CHECK_EQ_BYTES(intern_get(&t, 99), "");
    CHECK_EQ_BYTES(intern_get(&t, STR_NONE), "");
    intern_done(&t);
}

static int fill(void *ctx)
{
    struct intern t;
    if (intern_init(&t)) return -1;
    int rc = 0;
    char name[32];
    for (int i = 0; i < 3000 && rc == 0; i++) {
        snprintf(name, sizeof name, "name %d", i);
        uint32_t n = t.n;
        if (intern_add(&t, str_c(name)) == STR_NONE) {
            rc = -1;
            CHECK_EQ_UINT(t.n, n);
            CHECK_EQ_UINT(intern_find(&t, str_c(name)), STR_NONE);
            mem_fail_at(0); /* a failed addition leaves a table that still works */
            CHECK_EQ_UINT(intern_add(&t, str_c(name)), n);
            CHECK_EQ_UINT(intern_add(&t, str_c("another")), n + 1);
            mem_fail_at(1);
            mem_free(mem_alloc(1)); /* what follows would have failed too */
        }
    }
    intern_done(&t);
    return rc;
}

TEST(out_of_memory)
{
    for (long k = 1; k < 60; k++) {
        mem_fail_at(k);
        int rc = fill(NULL);
        mem_fail_at(0);
        if (rc == 0) {
            CHECK(k > 10);
            return;
        }
    }
    test_fail(__FILE__, __LINE__, "still failing");
}

TEST_MAIN
