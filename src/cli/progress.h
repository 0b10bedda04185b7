/* progress.h: one line on the terminal for anything that takes more than a second, removed at the
 * end. Nothing is shown if standard error is not a terminal. */
#ifndef STRATA_CLI_PROGRESS_H
#define STRATA_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what, *name; /* "reading", "trace.json" */
    double next_s;           /* when to show the next line */
    bool shown;
};

void progress_begin(struct progress *p, const char *what, const char *name);
void progress_tell(struct progress *p, uint64_t done,
                   uint64_t all); /* at most ten lines per second */
void progress_end(struct progress *p);

#endif
