/* help.h: everything that is written about commands, from the command table alone. */
#ifndef STRATA_CLI_HELP_H
#define STRATA_CLI_HELP_H

#include "cli/cli.h"

void help_overview(struct buf *out, bool color);
void help_command(struct buf *out, const struct cmd *c, bool color);

/* A troff page for one command, or for the program when `c` is NULL. */
void help_man(struct buf *out, const struct cmd *c);

/* Completion scripts: shell is "bash", "zsh" or "fish". */
void help_completion(struct buf *out, const char *shell);

#endif
