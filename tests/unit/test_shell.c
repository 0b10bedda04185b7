/* test_shell.c: what is offered for copying is one word to a shell, whatever it is made of. */
#include "base/shell.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

TEST(plain_names_stay_as_they_are)
{
    CHECK_EQ_STR(shell_word("run/trace_1.json.gz").s, "run/trace_1.json.gz");
    CHECK_EQ_STR(shell_word("a@b:1,2+3%4").s, "a@b:1,2+3%4");
    CHECK_EQ_STR(shell_word("caf\xc3\xa9.json").s, "caf\xc3\xa9.json");
}

TEST(what_a_shell_would_read_is_quoted)
{
    CHECK_EQ_STR(shell_word("a b").s, "'a b'");
    CHECK_EQ_STR(shell_word("a$(touch x);b").s, "'a$(touch x);b'");
    CHECK_EQ_STR(shell_word("it's").s, "'it'\\''s'");
    CHECK_EQ_STR(shell_word("").s, "''");
    CHECK_EQ_STR(shell_word("-o").s, "'./-o'");
    CHECK_EQ_STR(shell_word("~root").s, "'~root'");
}

/* The shell itself says what it made of the word. */
TEST(a_shell_reads_back_what_was_given)
{
    static const char *const all[] = {"a b",   "$(exit 7)`id`", "'\"\\'",
                                      "*?[x]", "a\nb",          "!x#y&z|<>"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char line[4096], back[64] = "";
        snprintf(line, sizeof line, "printf %%s %s", shell_word(all[i]).s);
        FILE *f = popen(line, "r"); /* NOLINT(cert-env33-c): what this test is about */
        REQUIRE(f != NULL);
        back[fread(back, 1, sizeof back - 1, f)] = 0;
        CHECK_EQ_INT(pclose(f), 0);
        CHECK_EQ_STR(back, all[i]);
    }
}

TEST(what_does_not_fit_names_nothing)
{
    static char text[4000];
    memset(text, 'x', sizeof text - 1);
    CHECK_EQ_STR(shell_word(text).s, "...");
    memset(text, '\'', sizeof text - 1);
    CHECK_EQ_STR(shell_word(text).s, "...");
}

TEST_MAIN
