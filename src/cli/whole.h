/* whole.h: the report of a recording that is too long to be read at once, part by part. */
#ifndef STRATA_CLI_WHOLE_H
#define STRATA_CLI_WHOLE_H

#include "cli/cli.h"

/* *ret_done is false, and nothing is shown, where the trace is not such a recording. */
int whole_show(struct cli *cli, const struct opts *o, bool *ret_done, struct err *e) MUST_USE;

#endif
