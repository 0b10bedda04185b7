/* serve.h: one file over HTTP, on this machine alone, to one web page.
 *
 * Whoever asks must know the path, which holds a random word, must have come by the name of this
 * machine (no other name that leads here), and a page must be of the one origin. The file is open
 * already and may have no name any more. */
#ifndef STRATA_CLI_SERVE_H
#define STRATA_CLI_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct serve {
    int file;           /* open for reading; the caller's */
    const char *origin; /* of the page: "https://ui.perfetto.dev" */
    uint16_t port;      /* 0: any */

    int listener;
    sigset_t while_waiting; /* signals that are blocked then: not those that end us */
    uint64_t size_bytes;
    char path[160]; /* "/RANDOM/NAME" */
};

/* Listens; port and path are known then, and Ctrl-C ends serve_run from then on. `name` is what the
 * file is called to others. */
int serve_open(struct serve *s, const char *name, struct err *e) MUST_USE;
void serve_close(struct serve *s);

/* Answers until Ctrl-C, or with `once` until somebody has got the whole file. */
int serve_run(struct serve *s, bool once, struct err *e) MUST_USE;

#endif
