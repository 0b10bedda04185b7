/* cmds.c: the one list of sub-commands. To add one: write cmd_<name>.c and add it here. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/shell.h"
#include "cli/cli.h"

/* One per line: first the CMDS_MOST_USED, then as help lists them within their group. */
/* clang-format off */
#define COMMANDS(X) \
    X(report) \
    X(run) \
    X(try) \
    X(diff) \
    X(whatif) \
    X(record) \
    X(doctor) \
    X(bench) \
    X(check) \
    X(gaps) \
    X(syncs) \
    X(offload) \
    X(dive) \
    X(steps) \
    X(stages) \
    X(kernels) \
    X(table) \
    X(memory) \
    X(info) \
    X(export) \
    X(sql) \
    X(mcp) \
    X(help)
/* clang-format on */

#define DECLARE(name) extern const struct cmd cmd_##name;
COMMANDS(DECLARE)

#define LIST(name) &cmd_##name,
const struct cmd *const cmds[] = {COMMANDS(LIST) NULL};

/* Names of commands that became part of another, with the options that make that one do the same.
 * `needs_no` lists options of the user with which those are superfluous. */
static const struct gone {
    const char *name, *part_of, *now, *needs_no;
} gone[] = {
    {"checklist", "report", "report -v", ""},
    {"compare", "diff", "diff --stages", ""},
    {"flame", "export", "export --to flame", "-o --output --to"},
    {"launches", "gaps", "gaps --launches", ""},
    {"lint", "info", "info --lint", ""},
    {"perfetto", "export", "export --open", ""},
    {"ps", "record", "record", ""},
    {"ranks", "report", "report --ranks", ""},
    {"recover", "info", "info", ""},
    {"summarize", "export", "export --to tables", ""},
};

const struct cmd *cmd_find(const char *name)
{
    if (strcmp(name, "explain") == 0) name = "help";
    for (int i = 0; cmds[i]; i++)
        if (strcmp(cmds[i]->name, name) == 0) return cmds[i];
    return NULL;
}

static bool cmds_one_given(const char *words, int n, char *const *args)
{
    char list[64];
    snprintf(list, sizeof list, " %s ", words);
    for (int i = 0; i < n; i++) {
        char word[40];
        int len = (int)strcspn(args[i], "=");
        snprintf(word, sizeof word, " %.*s ", len < 32 ? len : 32, args[i]);
        if (args[i][0] == '-' && strstr(list, word)) return true;
    }
    return false;
}

/* The same command line as it is written now. */
static int cmds_say_gone(const struct gone *g, int n, char *const *args, struct err *e)
{
    char line[400];
    const char *now = g->needs_no[0] && cmds_one_given(g->needs_no, n, args) ? g->part_of : g->now;
    int used = snprintf(line, sizeof line, "strata %s", now);
    for (int i = 0; i < n && used > 0 && (size_t)used < sizeof line; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %s", args[i]);
    return FAIL(e, ERR_USAGE, "%s is now part of %s: %s", g->name, g->part_of, line);
}

int cmd_unknown(const char *name, int n_args, char *const *args, struct err *e)
{
    enum { MOST = 64 };
    const char *names[MOST] = {"--version", "--help"};
    int n = 2;
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i].name, name) == 0) return cmds_say_gone(&gone[i], n_args, args, e);
    for (int i = 0; cmds[i] && n < MOST; i++)
        if (cmds[i]->group != GROUP_HIDDEN) names[n++] = cmds[i]->name;
    const char *near = opt_nearest(name, names, n);
    if (near) return FAIL(e, ERR_USAGE, "unknown command '%s'. Did you mean '%s'?", name, near);
    if (name[0] != '-' && access(name, R_OK) == 0)
        return FAIL(e, ERR_USAGE, "%s is a %s, not a command: strata report %s", name,
                    folder_is(name) ? "folder" : "file", shell_word(name).s);
    return FAIL(e, ERR_USAGE, "unknown command '%s'. strata help lists all commands.", name);
}
