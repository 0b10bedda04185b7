/* help.h: everything that is written about commands, from the command table alone: --help texts
 * (help.c), manual pages (man.c) and completion scripts (complete.c). */
#ifndef STRATA_CLI_HELP_HELP_H
#define STRATA_CLI_HELP_HELP_H

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

/* Tables of the analysis as they stand in the help of commands. */

extern const struct cmd_terms *const terms_thresholds[]; /* for --set */
extern const struct cmd_terms *const terms_budget[];     /* for budget files */

/* page_text.c: a page of docs/rules for a terminal, without the marks of Markdown. */
void page_text_print(struct cli *cli, const char *page);

/* explain.c: the pages of rules and the terms of the glossary, by name. */

/* Explains what the operands name: a rule, a term of the glossary ("launch latency" may be two
 * operands), or "rules". Fails with near names as suggestions. */
int explain(struct cli *cli, const struct opts *o, struct err *e) MUST_USE;

#endif
