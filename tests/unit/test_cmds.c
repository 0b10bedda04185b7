/* test_cmds.c: every command in the list describes itself as help, manual and completion need. */
#include <ctype.h>

#include "cli/cli.h"
#include "test.h"

static void check_summary(const struct cmd *c)
{
    size_t n = strlen(c->summary);
    CHECK(n > 0 && n <= 80);
    CHECK(c->summary[n - 1] != '.');
    CHECK(c->args != NULL);
    CHECK(c->about && c->about[strlen(c->about) - 1] == '.');
    CHECK(c->run != NULL);
    CHECK(c->max_args < 0 || c->min_args <= c->max_args);
    CHECK(c->group >= GROUP_RECORD && c->group <= GROUP_HIDDEN);
}

static void check_examples(const struct cmd *c)
{
    char begin[64];
    snprintf(begin, sizeof begin, "strata %s", c->name);
    REQUIRE(c->examples && c->examples[0]);
    CHECK(strncmp(c->examples[0], begin, strlen(begin)) == 0);
    for (int i = 0; c->examples[i]; i += 2) REQUIRE(c->examples[i + 1] != NULL);
}

static int times_named(const struct opt *table, const struct opt *o)
{
    int n = 0;
    for (; table && table->name; table++) {
        n += strcmp(table->name, o->name) == 0;
        n += table != o && o->letter && table->letter == o->letter;
    }
    return n;
}

static void check_options(const struct cmd *c)
{
    for (const struct opt *o = c->opts; o && o->name; o++) {
        CHECK_EQ_INT(times_named(c->opts, o), 1);
        CHECK_EQ_INT(times_named(cli_common_opts, o), 0);
        CHECK(o->help && o->help[0]);
        CHECK(!str_ends(str_c(o->help), ".") || str_ends(str_c(o->help), "..."));
        CHECK(!o->choices || o->arg);
        for (const char *p = o->name; *p; p++) CHECK(islower((unsigned char)*p) || *p == '-');
        CHECK(!o->arg || !islower((unsigned char)o->arg[0]));
    }
}

TEST(every_command_is_described)
{
    for (int i = 0; cmds[i]; i++) {
        int before = test_failed_checks;
        check_summary(cmds[i]);
        check_examples(cmds[i]);
        check_options(cmds[i]);
        if (test_failed_checks > before) printf("in command %s\n", cmds[i]->name);
    }
}

TEST(names_are_unique_and_found)
{
    for (int i = 0; cmds[i]; i++) CHECK(cmd_find(cmds[i]->name) == cmds[i]);
    CHECK(cmd_find("no such command") == NULL);
    CHECK(cmd_find("") == NULL);
}

TEST_MAIN
