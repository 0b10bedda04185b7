/* help.h: everything that is written about commands, from the command table alone: --help texts
 * (help.c), manual pages (man.c) and completion scripts (complete.c). */
#ifndef STRATA_CLI_HELP_H
#define STRATA_CLI_HELP_H

#include "cli/cli.h"

void help_overview(struct buf *out, bool color);
void help_command(struct buf *out, const struct cmd *c, bool color, int width);

/* What an option is for, with the values it takes. */
void help_option(struct buf *out, const struct opt *o);

/* One command, or all of them when `c` is NULL, for machines. */
void help_json(struct buf *out, const struct cmd *c);

/* The terms used in reports, as text or, with --json, for machines. */
void help_glossary(struct cli *cli);

/* A troff page for one command, or for the program when `c` is NULL. */
void man_page(struct buf *out, const struct cmd *c);

/* A completion script; shell is "bash", "zsh" or "fish". */
void complete_script(struct buf *out, const char *shell);

#endif
