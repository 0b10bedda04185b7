/* summarize.h: traces as folders of Parquet tables (tables/tables.h), one trace at a time. */
#ifndef STRATA_CLI_SUMMARIZE_H
#define STRATA_CLI_SUMMARIZE_H

#include "cli/cli.h"

struct summarize {
    const char *folder; /* where to */
    const char *run;    /* its name; NULL: that of the folder the trace lies in */
    int rank;           /* of the first trace that neither says its rank nor has it in its name */
};

/* Writes the tables of all traces among the operands. A trace that cannot be read is reported, and
 * fails at the end, after the others are written. */
int summarize_run(struct cli *cli, const struct opts *o, const struct summarize *in,
                  struct err *e) MUST_USE;

#endif
