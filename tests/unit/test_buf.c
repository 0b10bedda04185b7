/* test_buf.c: appending, formatting, and one failure that silences the rest. */
#include "base/buf.h"

#include "base/err.h"

#include "test.h"

TEST(everything_that_appends)
{
    struct buf b;
    buf_init(&b);
    CHECK_EQ_STR(buf_c(&b), "");
    buf_adds(&b, "ab");
    buf_addc(&b, 'c');
    buf_add(&b, "defgh", 2);
    buf_add_str(&b, str_c("-"));
    buf_add_str(&b, str_from(NULL, 0));
    buf_pad(&b, '*', 3);
    buf_pad(&b, '*', 0);
    buf_pad(&b, '*', -5);
    buf_printf(&b, "%d/%s", -7, "x");
    CHECK_EQ_STR(buf_c(&b), "abcde-***-7/x");
    CHECK_EQ_BYTES(buf_str(&b), "abcde-***-7/x");
    CHECK(buf_ok(&b));
    buf_reset(&b);
    CHECK_EQ_STR(buf_c(&b), "");
    buf_done(&b);
    CHECK(b.p == NULL && b.cap == 0);
}

TEST(grows_without_losing_bytes)
{
    struct buf b;
    buf_init(&b);
    for (int i = 0; i < 100000; i++) buf_printf(&b, "%05d", i);
    REQUIRE(buf_ok(&b));
    CHECK_EQ_UINT(b.n, 500000);
    CHECK_EQ_BYTES(str_from(b.p + 5 * 99998, 10), "9999899999");
    CHECK_EQ_INT(b.p[b.n], '\0');
    buf_done(&b);
}

TEST(room_for_the_caller_to_fill)
{
    struct buf b;
    buf_init(&b);
    buf_adds(&b, "<");
    char *room = buf_room(&b, 1000);
    REQUIRE(room != NULL);
    memset(room, 'y', 1000);
    b.n += 1000;
    buf_adds(&b, ">");
    CHECK_EQ_UINT(b.n, 1002);
    CHECK_EQ_INT(b.p[1000], 'y');
    CHECK_EQ_INT(b.p[1001], '>');
    buf_done(&b);
}

TEST(asking_too_much_fails_and_stays_failed)
{
    struct buf b;
    buf_init(&b);
    buf_adds(&b, "kept");
    CHECK(buf_room(&b, SIZE_MAX) == NULL);
    CHECK(!buf_ok(&b));
    buf_adds(&b, "lost");
    CHECK_EQ_UINT(b.n, 4);
    CHECK_EQ_STR(buf_c(&b), "");
    buf_reset(&b);
    buf_adds(&b, "again");
    CHECK(buf_ok(&b));
    CHECK_EQ_STR(buf_c(&b), "again");
    buf_done(&b);
}

TEST(a_ceiling_is_no_lack_of_memory)
{
    struct buf b = {.most = 8};
    struct err e;
    err_init(&e);
    buf_adds(&b, "12345678");
    CHECK_EQ_INT(buf_status(&b, &e), 0);
    buf_addc(&b, '9');
    CHECK(!buf_ok(&b) && b.over);
    CHECK_EQ_INT(buf_status(&b, &e), ERR_LIMIT);
    CHECK_EQ_STR(e.msg, ""); /* its owner knows the words */
    buf_reset(&b);
    CHECK(buf_room(&b, SIZE_MAX) == NULL && b.over);
    buf_reset(&b);
    buf_adds(&b, "again");
    CHECK(buf_ok(&b) && !b.over);
    b.failed = true;
    CHECK_EQ_INT(buf_status(&b, &e), ERR_NOMEM);
    buf_done(&b);
}

static int fill(void *ctx)
{
    struct buf b;
    buf_init(&b);
    for (int i = 0; i < 200; i++) buf_printf(&b, "line %d\n", i);
    buf_pad(&b, ' ', 5000);
    int rc = buf_ok(&b) ? 0 : -1;
    buf_done(&b);
    return rc;
}

TEST(out_of_memory)
{
    CHECK_EVERY_ALLOC(fill, NULL);
}

TEST_MAIN
