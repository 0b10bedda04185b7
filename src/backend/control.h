/* control.h: recording is switched from outside, over a socket in the run's folder.
 * format/control.h has its messages.
 *
 * One thread, which sleeps until a client connects. Nothing is done in the program's own threads,
 * and nothing at all if no control thread was requested. The program may close our descriptor, or
 * remove the folder: then no client can connect any more, and the recording goes on. */
#ifndef STRATA_BACKEND_CONTROL_H
#define STRATA_BACKEND_CONTROL_H

#include <stddef.h>

#include "base/err.h"

/* What can be requested; all of it on the control thread. */
struct control_actions {
    /* Recording is on when this returns the number of the part. */
    int (*begin)(struct err *e);
    void (*end)(void);
    const char *(*state)(void);
    int (*n_parts)(void);
    /* Writes what is kept to a folder of its own, whose path goes to `ret`. */
    int (*snapshot)(const char *why, char *ret, size_t cap, struct err *e);
};

/* Listens in `folder` from here on; starting again does nothing, in a forked child it makes a
 * socket of its own. */
int control_start(const char *folder, const struct control_actions *a, struct err *e) MUST_USE;

/* Asks the control thread for a snapshot and goes on. Also in a signal handler. `why` must stay. */
void control_ask_for_snapshot(const char *why);

#endif
