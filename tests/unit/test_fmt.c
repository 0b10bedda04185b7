/* test_fmt.c: numbers as text, at every length and both signs. */
#include "export/export_private.h"

#include "test.h"

static const char *u64(uint64_t v)
{
    static struct buf b;
    buf_reset(&b);
    fmt_u64(&b, v);
    return buf_c(&b);
}

static const char *us(int64_t ns)
{
    static struct buf b;
    buf_reset(&b);
    fmt_us(&b, ns);
    return buf_c(&b);
}

TEST(integers_agree_with_printf)
{
    char want[32];
    struct buf b = {0};
    for (uint64_t v = 1; v < UINT64_MAX / 11; v = v * 11 + 7) {
        snprintf(want, sizeof want, "%" PRIu64, v);
        CHECK_EQ_STR(u64(v), want);
        snprintf(want, sizeof want, "%" PRId64, -(int64_t)v);
        buf_reset(&b);
        fmt_i64(&b, -(int64_t)v);
        CHECK_EQ_STR(buf_c(&b), want);
    }
    CHECK_EQ_STR(u64(0), "0");
    CHECK_EQ_STR(u64(10), "10");
    CHECK_EQ_STR(u64(UINT64_MAX), "18446744073709551615");
    buf_reset(&b);
    fmt_i64(&b, INT64_MIN);
    CHECK_EQ_STR(buf_c(&b), "-9223372036854775808");
    buf_done(&b);
}

TEST(microseconds_are_exact)
{
    CHECK_EQ_STR(us(0), "0.000");
    CHECK_EQ_STR(us(1), "0.001");
    CHECK_EQ_STR(us(999), "0.999");
    CHECK_EQ_STR(us(1000), "1.000");
    CHECK_EQ_STR(us(3846466082981322), "3846466082981.322");
    CHECK_EQ_STR(us(-1), "-0.001");
    CHECK_EQ_STR(us(-1002003), "-1002.003");
    CHECK_EQ_STR(us(INT64_MAX), "9223372036854775.807");
    CHECK_EQ_STR(us(INT64_MIN), "-9223372036854775.808");
}

TEST_MAIN
