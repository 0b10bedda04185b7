/* cmds.c: the one list of sub-commands. To add one: write cmd_<name>.c and add it here. */
#include <string.h>

#include "cli/cli.h"

/* One a line, in the order help lists them. */
#define COMMANDS(X) X(help)

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
