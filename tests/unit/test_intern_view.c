/* test_intern_view.c: a table of strings in somebody else's memory, honest and hostile. */
#include "base/intern.h"
#include "test.h"

static const char bytes[] = "\0relu\0add\0mul"; /* "" relu add mul, each terminated */

static struct intern borrow(const uint64_t *offsets, const uint32_t *order)
{
    struct intern t = {0};
    struct intern_view view = {offsets, order, bytes, sizeof bytes};
    intern_borrow(&t, &view, 4);
    return t;
}

TEST(gets_and_finds)
{
    const uint64_t offsets[] = {0, 1, 6, 10, 14};
    const uint32_t order[] = {0, 2, 3, 1};
    struct intern t = borrow(offsets, order);
    CHECK_EQ_BYTES(intern_get(&t, 0), "");
    CHECK_EQ_BYTES(intern_get(&t, 1), "relu");
    CHECK_EQ_BYTES(intern_get(&t, 3), "mul");
    CHECK_EQ_BYTES(intern_get(&t, 4), "");
    CHECK_EQ_BYTES(intern_get(&t, STR_NONE), "");
    CHECK_EQ_UINT(intern_find(&t, str_c("")), 0);
    CHECK_EQ_UINT(intern_find(&t, str_c("relu")), 1);
    CHECK_EQ_UINT(intern_find(&t, str_c("add")), 2);
    CHECK_EQ_UINT(intern_find(&t, str_c("mul")), 3);
    CHECK_EQ_UINT(intern_find(&t, str_c("rel")), STR_NONE);
    CHECK_EQ_UINT(intern_find(&t, str_c("zzz")), STR_NONE);
    CHECK_EQ_UINT(intern_add(&t, str_c("new")), STR_NONE);
    intern_done(&t);
}

TEST(strings_that_do_not_fit_read_as_empty)
{
    const uint64_t offsets[] = {0, 1, 5, 4, UINT64_MAX};
    const uint32_t order[] = {9, UINT32_MAX, 3, 0};
    struct intern t = borrow(offsets, order);
    CHECK_EQ_BYTES(intern_get(&t, 1), ""); /* ends before its terminator */
    CHECK_EQ_BYTES(intern_get(&t, 2), ""); /* ends before it begins */
    CHECK_EQ_BYTES(intern_get(&t, 3), ""); /* ends outside */
    CHECK_EQ_UINT(intern_find(&t, str_c("relu")), STR_NONE);
    CHECK(intern_find(&t, str_c("")) == STR_NONE || intern_find(&t, str_c("")) < 4);
    intern_done(&t);
}

TEST_MAIN
