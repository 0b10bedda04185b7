/* serve.h: serves one file over HTTP, on this machine only, to one web page.
 *
 * A request must know the path, which contains a random word, must use the loopback name of this
 * machine, and must come from a page of the given origin. The file is already open and may have
 * been unlinked. */
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
    sigset_t while_waiting; /* signals blocked while waiting: not those that end us */
    uint64_t size_bytes;
    char path[160]; /* "/RANDOM/NAME" */
};

/* Starts to listen; then port and path are known, and Ctrl-C ends serve_run. `name` is the file
 * name that others see. */
int serve_open(struct serve *s, const char *name, struct err *e) MUST_USE;
void serve_close(struct serve *s);

/* Answers until Ctrl-C, or with `once` until the whole file has been read once. */
int serve_run(struct serve *s, bool once, struct err *e) MUST_USE;

#endif
