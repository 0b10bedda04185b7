/* whole.h: recordings that are too long to be read at once, added up part by part. */
#ifndef STRATA_CLI_WHOLE_H
#define STRATA_CLI_WHOLE_H

#include "analyze/compare/whole.h"
#include "cli/cli.h"

/* With --whole. *ret_done is false, and nothing is shown, where the trace is not such a recording.
 */
int whole_show(struct cli *cli, const struct opts *o, enum whole_what what, bool *ret_done,
               struct err *e) MUST_USE;

/* Refuses a recording that this view cannot show as a whole. */
int whole_refuse(const char *path, struct err *e) MUST_USE;

#endif
