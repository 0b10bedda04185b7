/* test_number.c: numbers in the locales that tools print them in. */
#include "dive/csv.h"
#include "test.h"

static double parse_alone(const char *text)
{
    struct number_style style = {0};
    number_vote(&style, str_c(text));
    return number_parse(style, str_c(text));
}

TEST(plain)
{
    CHECK_NEAR(parse_alone("0"), 0, 0);
    CHECK_NEAR(parse_alone("-12.5"), -12.5, 0);
    CHECK_NEAR(parse_alone("2.4e+06"), 2.4e6, 0);
    CHECK_NEAR(parse_alone("  42 "), 42, 0);
}

TEST(thousands_and_decimals)
{
    CHECK_NEAR(parse_alone("1,234,567"), 1234567, 0);
    CHECK_NEAR(parse_alone("1,234.56"), 1234.56, 1e-9);
    CHECK_NEAR(parse_alone("1.234,56"), 1234.56, 1e-9);
    CHECK_NEAR(parse_alone("1.234.567"), 1234567, 0);
    CHECK_NEAR(parse_alone("1 234,56"), 1234.56, 1e-9);
    CHECK_NEAR(parse_alone("1\xe2\x80\xaf"
                           "234,56"),
               1234.56, 1e-9);
    CHECK_NEAR(parse_alone("1'234.56"), 1234.56, 1e-9);
    CHECK_NEAR(parse_alone("0,125"), 0.125, 1e-9);
    CHECK_NEAR(parse_alone("0.125"), 0.125, 1e-9);
    CHECK_NEAR(parse_alone("12,5"), 12.5, 1e-9);
}

/* Alone "1,234" could be either; the other numbers of the file decide, and English without any. */
TEST(the_file_decides)
{
    struct number_style german = {0}, none = {0};
    number_vote(&german, str_c("88,62"));
    number_vote(&german, str_c("1.234"));
    CHECK_NEAR(number_parse(german, str_c("1.234")), 1234, 0);
    CHECK_NEAR(number_parse(german, str_c("1,234")), 1.234, 1e-9);
    number_vote(&none, str_c("1,234"));
    CHECK_EQ_INT(none.point + none.comma, 0);
    CHECK_NEAR(number_parse(none, str_c("1,234")), 1234, 0);
}

TEST(lists_and_no_numbers)
{
    CHECK_NEAR(parse_alone("4,096 (1; 2; 3)"), 4096, 0);
    CHECK(isnan(parse_alone("n/a")));
    CHECK(isnan(parse_alone("")));
    CHECK(isnan(parse_alone("nan")));
    CHECK(isnan(parse_alone("inf")));
    CHECK(isnan(parse_alone("1e999")));
    CHECK(isnan(parse_alone("(!) n/a")));
    CHECK(isnan(parse_alone("-")));
    CHECK(isnan(parse_alone("PolicySpread")));
}

TEST_MAIN
