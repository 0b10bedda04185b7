/* child.h: running a program transparently: signals and exit status are passed on. */
#ifndef STRATA_CLI_RECORDING_CHILD_H
#define STRATA_CLI_RECORDING_CHILD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/cli.h"

/* Runs argv[0] with its arguments in this environment and waits for it. Signals sent to us are
 * passed on; those of a terminal reach it directly. With `stdout_to_stderr` its output goes to
 * standard error. *ret_status is the status from wait. Fails with ERR_USAGE if it cannot be
 * started.
 */
int child_run(char **argv, int stdout_to_stderr, int *ret_status, struct err *e) MUST_USE;

/* The same, with what it prints on standard output appended to `out`; ERR_LIMIT beyond
 * CHILD_MOST_BYTES of it. */
#define CHILD_MOST_BYTES ((size_t)256 << 20)
int child_read(char **argv, struct buf *out, int *ret_status, struct err *e) MUST_USE;

/* Like child_run with its standard output going to our standard error; calls `tick` every
 * CHILD_TICK_MS until it ends. A tick that fails is not called again, and its error is returned. */
enum { CHILD_TICK_MS = 20 };
typedef int child_tick(void *ctx, struct err *e);
int child_run_ticking(char **argv, child_tick *tick, void *ctx, int *ret_status,
                      struct err *e) MUST_USE;

/* From now on signals are for this process, not for a child that has ended: SIGINT, SIGTERM and
 * SIGHUP print `message` on standard error, remove the files in `unfinished` (NULL-terminated) and
 * end it. Both must stay valid. */
void child_stop_on_signals(const char *message, const char *const *unfinished);

/* Ends this process the way the child ended: by its signal, or by returning its exit status. */
int child_end_alike(int status);

/* python.c: the strata package for the Python programs we start. */

/* Makes every Python started from here find the package, and this program through STRATA_BIN, by
 * setting our own environment. False if the package is not next to this program. */
bool python_prepare(struct arena *mem);

/* A module of the package that does the work of a command. */
struct python_front {
    const char *module;
    const char *wanted; /* which Python it needs: "a Python that has torch" */
};

/* Starts it with the options of the command, except --python, which names the Python, and with
 * nothing recorded. Ends this process as that one ends. */
int python_front_run(const struct python_front *front, const struct cli *cli, const struct opts *o,
                     struct err *e) MUST_USE;

#endif
