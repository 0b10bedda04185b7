/* test_err.c: the first message wins, places are added from outside, NULL is always allowed. */
#include "base/err.h"

#include "test.h"

TEST(the_first_message_wins)
{
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(FAIL(&e, ERR_FORMAT, "expected %c", 'x'), ERR_FORMAT);
    CHECK_EQ_INT(FAIL(&e, ERR_IO, "later"), ERR_IO);
    CHECK_EQ_INT(e.code, ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "expected x");
}

TEST(the_first_place_wins)
{
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(e.offset, ERR_NO_OFFSET);
    err_at(&e, NULL, 17);
    err_at(&e, "inner.json", 18);
    err_at(&e, "outer.json", 19);
    CHECK_EQ_STR(e.file, "inner.json");
    CHECK_EQ_INT(e.offset, 17);
}

TEST(long_texts_are_cut_not_overrun)
{
    struct err e;
    char text[2000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_init(&e);
    err_set(&e, ERR_IO, "%s", text);
    err_at(&e, text, 0);
    CHECK_EQ_UINT(strlen(e.msg), sizeof e.msg - 1);
    CHECK_EQ_UINT(strlen(e.file), sizeof e.file - 1);
}

TEST(growing_says_why_it_failed_once)
{
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(err_grow(&e, 0), 0);
    CHECK_EQ_INT(err_grow(&e, 3), 0);
    CHECK_EQ_INT(e.code, 0);
    CHECK_EQ_INT(err_grow(&e, ERR_NOMEM), ERR_NOMEM);
    CHECK_EQ_STR(e.msg, "out of memory");
    err_init(&e);
    CHECK_EQ_INT(err_grow(&e, ERR_LIMIT), ERR_LIMIT);
    CHECK(strstr(e.msg, "limit"));
    err_init(&e);
    CHECK_EQ_INT(FAIL(&e, ERR_IO, "no such file"), ERR_IO);
    CHECK_EQ_INT(err_grow(&e, e.code), ERR_IO);
    CHECK_EQ_STR(e.msg, "no such file");
    CHECK_EQ_INT(err_nomem(NULL), ERR_NOMEM);
}

static int twice(int rc)
{
    TRY(rc);
    TRY(rc);
    return 1;
}

TEST(try_passes_negative_results_on)
{
    CHECK_EQ_INT(twice(0), 1);
    CHECK_EQ_INT(twice(5), 1);
    CHECK_EQ_INT(twice(ERR_LIMIT), ERR_LIMIT);
}

TEST(null_is_allowed)
{
    err_init(NULL);
    err_at(NULL, "x", 1);
    CHECK_EQ_INT(FAIL(NULL, ERR_USAGE, "nobody listens"), ERR_USAGE);
}

TEST_MAIN
