/* follow.h: the stages of a run while it goes on: shown again and again until its processes have
 * ended, and as a file for Prometheus. */
#ifndef STRATA_CLI_FOLLOW_H
#define STRATA_CLI_FOLLOW_H

#include "cli/cli.h"
#include "report/screen.h"

struct follow {
    const char *folder;
    const char *metrics; /* file for Prometheus, or NULL */
    double every_s;      /* time between two looks; 0 for one look only */
};

/* `s` says how to show it. Returns when no process of the run goes on. */
int follow_run(struct cli *cli, const struct follow *f, struct screen *s, struct err *e) MUST_USE;

#endif
