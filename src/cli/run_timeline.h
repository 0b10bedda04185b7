/* run_timeline.h: what `strata run --level timeline` does more than with stages: the doors of the
 * device libraries before the program starts, the report when it has ended. */
#ifndef STRATA_CLI_RUN_TIMELINE_H
#define STRATA_CLI_RUN_TIMELINE_H

#include "cli/run_recording.h"

/* Sets the environment of the program. A door that another tool holds stays its own, and that is
 * told. */
void run_timeline_prepare(const struct opts *o, struct arena *mem);

/* The report of the recording, to standard error, or as JSON to standard output; then why
 * anything is missing. `shown` is the folder as people name it. False when nothing was recorded. */
bool run_timeline_tell(struct cli *cli, struct run_recording *r, const char *shown);

#endif
