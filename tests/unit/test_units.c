/* test_units.c: what people write, and what is refused. */
#include "base/units.h"
#include "test.h"

static int64_t bytes(const char *text)
{
    int64_t v = -1;
    return units_bytes(text, "--x", &v, NULL) < 0 ? -1 : v;
}

static int64_t ns(const char *text)
{
    int64_t v = -1;
    return units_time_ns(text, "--x", &v, NULL) < 0 ? -1 : v;
}

TEST(sizes)
{
    CHECK_EQ_INT(bytes("0"), 0);
    CHECK_EQ_INT(bytes("1234"), 1234);
    CHECK_EQ_INT(bytes("22GB"), 22000000000);
    CHECK_EQ_INT(bytes("3.1 gb"), 3100000000);
    CHECK_EQ_INT(bytes("8GiB"), 8589934592);
    CHECK_EQ_INT(bytes("500m"), 500000000);
    CHECK_EQ_INT(bytes("1e9"), 1000000000);
}

TEST(times)
{
    CHECK_EQ_INT(ns("4"), 4000000000); /* the same as of every option */
    CHECK_EQ_INT(ns("4s"), 4000000000);
    CHECK_EQ_INT(ns("250 ms"), 250000000);
    CHECK_EQ_INT(ns("2min"), 120000000000);
    CHECK_EQ_INT(ns("2m"), 120000000000);
    CHECK_EQ_INT(ns("7us"), 7000);
}

TEST(refused)
{
    static const char *const bad[] = {"", "GB", "8 apples", "-1GB", "nan", "inf", "1e300", "8GBs"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ_INT(bytes(bad[i]), -1);
        CHECK_EQ_INT(ns(bad[i]), -1);
    }
    struct err e;
    int64_t v = 7;
    err_init(&e);
    CHECK_EQ_INT(units_bytes("many", "--resident", &v, &e), ERR_USAGE);
    CHECK_EQ_STR(e.msg, "--resident takes a size such as 8GB or 500MiB, not 'many'");
    CHECK_EQ_INT(v, 7);
}

TEST_MAIN
