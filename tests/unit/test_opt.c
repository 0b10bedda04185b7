/* test_opt.c: every way to write an option, and every way to get it wrong. */
#include "base/opt.h"

#include "test.h"

static const struct opt common[] = {
    {"json", 0, NULL, "machine-readable", NULL},
    {"help", 'h', NULL, "this text", NULL},
    {0},
};
static const struct opt own[] = {
    {"sort", 's', "KEY", "order", "calls|total"},
    {"limit", 'n', "N", "rows", NULL},
    {"verbose", 'v', NULL, "more", NULL},
    {"drop", 0, "SITE", "several times", NULL},
    {0},
};
static const struct opt *const tables[] = {common, own, NULL};

enum { MOST = 80 };
static char *words[MOST];
static struct opts o;
static struct err e;

/* Parses words separated by blanks. */
static int parse(const char *line, bool stop_at_operand)
{
    static char text[1024];
    int n = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *p = text, *word; (word = strsep(&p, " "));)
        if (*word) words[n++] = word;
    err_init(&e);
    return opt_parse(&o, tables, n, words, stop_at_operand, &e);
}

TEST(forms_of_options)
{
    REQUIRE(
        CHECK_EQ_INT(parse("a --json --sort=calls -n 5 b -vs total --limit 7 -n9 c", false), 0));
    CHECK(opt_has(&o, "json") && opt_has(&o, "verbose") && !opt_has(&o, "help"));
    CHECK_EQ_STR(opt_get(&o, "sort", NULL), "total");
    CHECK_EQ_STR(opt_nth(&o, "sort", 0), "calls");
    CHECK_EQ_STR(opt_nth(&o, "limit", 2), "9");
    CHECK_EQ_STR(opt_nth(&o, "limit", 3), NULL);
    CHECK_EQ_STR(opt_get(&o, "drop", "otherwise"), "otherwise");
    REQUIRE(CHECK_EQ_INT(o.n_args, 3));
    CHECK_EQ_STR(o.args[0], "a");
    CHECK_EQ_STR(o.args[1], "b");
    CHECK_EQ_STR(o.args[2], "c");
}

TEST(what_ends_the_options)
{
    REQUIRE(CHECK_EQ_INT(parse("-v -- --json -x -", false), 0));
    CHECK_EQ_INT(o.n_args, 3);
    CHECK_EQ_STR(o.args[0], "--json");
    CHECK(!opt_has(&o, "json"));
    REQUIRE(CHECK_EQ_INT(parse("-v python -x --json", true), 0));
    CHECK_EQ_INT(o.n_args, 3);
    CHECK_EQ_STR(o.args[1], "-x");
    REQUIRE(CHECK_EQ_INT(parse("-", false), 0));
    CHECK_EQ_STR(o.args[0], "-");
}

TEST(an_empty_value_is_a_value)
{
    REQUIRE(CHECK_EQ_INT(parse("--drop= --drop", false), ERR_USAGE));
    REQUIRE(CHECK_EQ_INT(parse("--drop=", false), 0));
    CHECK_EQ_STR(opt_get(&o, "drop", "otherwise"), "");
}

TEST(mistakes_say_what_was_meant)
{
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"--sotr calls", "unknown option '--sotr'. Did you mean '--sort'?"},
        {"--limt=5", "unknown option '--limt'. Did you mean '--limit'?"},
        {"--qqqqqqqq", "unknown option '--qqqqqqqq'"},
        {"-q", "unknown option '-q'"},
        {"--json=yes", "--json takes no value"},
        {"--limit", "--limit needs a value (N)"},
        {"-n", "-n needs a value (N)"},
        {"--sort name", "--sort takes one of calls|total, not 'name'"},
        {"--sort call", "--sort takes one of calls|total, not 'call'"},
        {"--sort=", "--sort takes one of calls|total, not ''"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_EQ_INT(parse(rows[i].line, false), ERR_USAGE);
        CHECK_EQ_STR(e.msg, rows[i].message);
    }
}

TEST(too_many_options)
{
    char line[1024] = "";
    for (int i = 0; i < OPT_MAX; i++) memcpy(line + 3 * i, "-v ", 4);
    CHECK_EQ_INT(parse(line, false), 0);
    CHECK_EQ_INT(o.n, OPT_MAX);
    memcpy(line + 3 * OPT_MAX, "-v", 3);
    CHECK_EQ_INT(parse(line, false), ERR_USAGE);
}

TEST(whole_numbers)
{
    long v = 42;
    REQUIRE(parse("", false) == 0);
    CHECK_EQ_INT(opt_long(&o, "limit", 1, 100, &v, &e), 0);
    CHECK_EQ_INT(v, 42);
    static const char *const bad[] = {"--limit=0", "--limit=101", "--limit=5x",
                                      "--limit=",  "--limit=1e3", "--limit=99999999999999999999"};
    for (int i = 0; i < 6; i++) {
        REQUIRE(parse(bad[i], false) == 0);
        CHECK_EQ_INT(opt_long(&o, "limit", 1, 100, &v, &e), ERR_USAGE);
        CHECK(strstr(e.msg, "--limit takes a whole number from 1 to 100") != NULL);
    }
    CHECK_EQ_INT(v, 42);
    REQUIRE(parse("--limit 7", false) == 0);
    CHECK_EQ_INT(opt_long(&o, "limit", 1, 100, &v, &e), 0);
    CHECK_EQ_INT(v, 7);
}

TEST(numbers)
{
    double v = 1;
    static const char *const bad[] = {"--limit=x", "--limit=nan", "--limit=inf", "--limit=1e999",
                                      "--limit=-1"};
    for (int i = 0; i < 5; i++) {
        REQUIRE(parse(bad[i], false) == 0);
        CHECK_EQ_INT(opt_double(&o, "limit", 0, 1e9, &v, &e), ERR_USAGE);
    }
    REQUIRE(parse("--limit 2.5", false) == 0);
    CHECK_EQ_INT(opt_double(&o, "limit", 0, 1e9, &v, &e), 0);
    CHECK_NEAR(v, 2.5, 0);
}

TEST(nearest)
{
    static const char *const names[] = {"report", "table", "kernels", "info"};
    CHECK_EQ_STR(opt_nearest("repotr", names, 4), "report");
    CHECK_EQ_STR(opt_nearest("tabel", names, 4), "table");
    CHECK_EQ_STR(opt_nearest("kernel", names, 4), "kernels");
    CHECK_EQ_STR(opt_nearest("frobnicate", names, 4), NULL);
    CHECK_EQ_STR(opt_nearest("", names, 4), NULL);
    CHECK_EQ_STR(opt_nearest("x", names, 0), NULL);
    char longest[300];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK_EQ_STR(opt_nearest(longest, names, 4), NULL);
}

TEST_MAIN
