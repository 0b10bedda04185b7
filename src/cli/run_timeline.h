/* run_timeline.h: what `strata run --level timeline` adds to stages: it injects the recording
 * library before the program starts, and reports when it has ended. */
#ifndef STRATA_CLI_RUN_TIMELINE_H
#define STRATA_CLI_RUN_TIMELINE_H

#include "cli/run_recording.h"

/* Sets the environment of the program. A variable that another tool already uses is left alone, and
 * that is reported. */
int run_timeline_prepare(const struct opts *o, struct arena *mem, struct err *e) MUST_USE;

/* Prints the report of the recording to standard error, or as JSON to standard output, then why
 * anything is missing. `shown` is the folder as the user named it. False if nothing was recorded.
 */
bool run_timeline_tell(struct cli *cli, struct run_recording *r, const char *shown);

#endif
