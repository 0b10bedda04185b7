/* look.h: for commands that show memory snapshots as well as traces: which of them a file is. It is
 * read once, because a pipe cannot be read again. */
#ifndef STRATA_CLI_LOOK_H
#define STRATA_CLI_LOOK_H

#include "cli/cli.h"
#include "trace/snapshot.h"

/* The snapshot in that file, or NULL: then it stays in cli->given for the trace's reader. */
int cli_look(struct cli *cli, const char *path, struct snapshot **ret, struct err *e) MUST_USE;
void cli_look_end(struct cli *cli, struct snapshot *p);

#endif
