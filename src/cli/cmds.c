/* cmds.c: the one list of sub-commands. To add one: write cmd_<name>.c and add it here. */
#include <string.h>

#include "cli/cli.h"

/* One per line, in the order help lists them within their group. */
/* clang-format off */
#define COMMANDS(X) \
    X(run) \
    X(record) \
    X(ps) \
    X(recover) \
    X(doctor) \
    X(bench) \
    X(try) \
    X(report) \
    X(ranks) \
    X(diff) \
    X(compare) \
    X(checklist) \
    X(check) \
    X(steps) \
    X(table) \
    X(lint) \
    X(info) \
    X(kernels) \
    X(stages) \
    X(launches) \
    X(memory) \
    X(export) \
    X(summarize) \
    X(sql) \
    X(perfetto) \
    X(gaps) \
    X(syncs) \
    X(whatif) \
    X(offload) \
    X(dive) \
    X(flame) \
    X(mcp) \
    X(help)
/* clang-format on */

#define DECLARE(name) extern const struct cmd cmd_##name;
COMMANDS(DECLARE)

#define LIST(name) &cmd_##name,
const struct cmd *const cmds[] = {COMMANDS(LIST) NULL};

const struct cmd *cmd_find(const char *name)
{
    for (int i = 0; cmds[i]; i++)
        if (strcmp(cmds[i]->name, name) == 0) return cmds[i];
    return NULL;
}

int cmd_unknown(const char *name, struct err *e)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int n = 0;
    for (int i = 0; cmds[i] && n < MOST; i++)
        if (cmds[i]->group != GROUP_HIDDEN) names[n++] = cmds[i]->name;
    const char *near = opt_nearest(name, names, n);
    if (near) return FAIL(e, ERR_USAGE, "unknown command '%s'. Did you mean '%s'?", name, near);
    return FAIL(e, ERR_USAGE, "unknown command '%s'. strata help lists all commands.", name);
}
