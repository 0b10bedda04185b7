/* test_pattern.c: what matches, and which expressions are refused before the library sees them. */
#include "base/pattern.h"

#include "test.h"

static bool matches(const char *text, const char *name)
{
    struct pattern p;
    if (!CHECK_EQ_INT(pattern_init(&p, text, NULL), 0)) return false;
    bool yes = pattern_matches(&p, str_c(name));
    pattern_done(&p);
    return yes;
}

TEST(any_part_of_a_name)
{
    CHECK(matches("gemm", "sgemm_nt"));
    CHECK(matches("^(s|h)gemm.*nt$", "hgemm_128x64_nt"));
    CHECK(matches("[[:digit:]]{3}x[]0-9]", "tile128x6"));
    CHECK(matches("a{2,}b{0}c", "aaac"));
    CHECK(matches("\\(x\\)", "f(x)"));
    CHECK(!matches("gemm$", "gemm_nt"));
    struct pattern p;
    REQUIRE(pattern_init(&p, "x$", NULL) == 0);
    CHECK(pattern_matches(&p, str_from("axb", 2))); /* ends where the string ends */
    CHECK(!pattern_matches(&p, (struct str){NULL, 0}));
    pattern_done(&p);
}

static void check_refused(const char *text, const char *why)
{
    struct pattern p;
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(pattern_init(&p, text, &e), ERR_USAGE);
    CHECK(strstr(e.msg, why) != NULL);
}

TEST(what_takes_all_memory_or_never_ends_is_refused)
{
    char deep[200], flat[200];
    memset(deep, '(', sizeof deep);
    memset(flat, 'a', sizeof flat);
    deep[sizeof deep - 1] = flat[sizeof flat - 1] = 0;
    check_refused("(((a{1,100}){1,100}){1,100}){1,100}", "too large");
    check_refused("((((x{200}){200}){200}){200}){200}", "too large");
    check_refused("[[:alpha:]]{2001}", "too large");
    check_refused("(ab|[]c]{5}){1,1500}", "too large");
    check_refused("a{200}{200}", "too large"); /* a repetition of a repetition */
    check_refused("\\({300}{300}{300}", "too large");
    check_refused("(){255}{255}", "too large");
    check_refused("(()){32767}", "too large");
    check_refused("(.*)(.*)\\2\\1z", "back-reference");
    check_refused(deep, "nested too deeply");
    check_refused("(", "is not a regular expression");
    check_refused("a{", "is not a regular expression");
    CHECK(matches(flat, flat));
    CHECK(matches("(a{1,20}){1,20}", "a"));
}

/* The library looks for ways round a loop that takes nothing, and there are too many. */
TEST(what_may_match_nothing_is_not_repeated_without_end)
{
    const char *why = "may match nothing";
    check_refused("((a|)*|){500}", why);
    check_refused("((a*)*(b*)*|(c*)*){150}", why);
    check_refused("(a?){0,}", why);
    check_refused("(a{,3}){2,}", why);
    check_refused("(a?b{0})+", why);
    check_refused("(^|\\b$)*", why);
    check_refused("x(y|()z?)+", why);
    CHECK(matches("(a*b|c+)*d", "aabcd"));
    CHECK(matches("(a|b?c)+$", "xbc"));
    CHECK(matches("(a?){3}.*?", "aa"));
    CHECK(matches("(^a|b)+", "ab"));
}

/* The library takes the square of the length for some: of a name that no program has, only the
 * beginning counts. */
TEST(of_a_very_long_name_the_beginning)
{
    struct pattern p;
    size_t n = 5000;
    char *name = mem_alloc(n);
    REQUIRE(name && pattern_init(&p, "ab", NULL) == 0);
    memset(name, 'a', n);
    name[100] = 'b';
    CHECK(pattern_matches(&p, str_from(name, n)));
    name[100] = 'a';
    name[n - 1] = 'b';
    CHECK(!pattern_matches(&p, str_from(name, n)));
    pattern_done(&p);
    mem_free(name);
}

TEST_MAIN
