/* recordable.h: processes that can be recorded while they run (format/control.h), as seen from the
 * command line. */
#ifndef STRATA_CLI_RECORDING_RECORDABLE_H
#define STRATA_CLI_RECORDING_RECORDABLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct recordable {
    long pid;
    const char *run;     /* its folder */
    const char *program; /* its name, as the kernel knows it */
    char state[16];      /* "idle", "recording", "keeping" */
    int n_parts;
};

struct recordables {
    struct recordable *list;
    uint32_t n;
};

/* Those of this machine that answer, by process id. */
int recordables_all(struct arena *mem, struct recordables *ret, struct err *e) MUST_USE;

/* Those of a run's folder. */
int recordables_of_run(const char *run, struct arena *mem, struct recordables *ret,
                       struct err *e) MUST_USE;

/* The one process, n = 0 when it does not wait to be recorded. */
int recordables_of_pid(long pid, struct arena *mem, struct recordables *ret,
                       struct err *e) MUST_USE;

/* The folder of a process that was started to record its timeline itself (strata run --level
 * timeline), and does; NULL of another. */
const char *recordable_own_run(long pid, struct arena *mem);

/* A connection with the request sent; -1 when there is no answer. */
int recordable_ask(const struct recordable *r, const char *request);

/* One line of an answer, without its end; false when none comes within that time. */
bool recordable_line(int fd, char *line, size_t cap, int wait_ms);

/* attach.c: making a process recordable that was not started for it: Python 3.14 and later run a
 * script that is handed to them (sys.remote_exec); other programs are entered (src/attach). For the
 * same user. */

/* *ret has the process when it waits to be recorded; else why it cannot be. */
int attach_process(long pid, struct arena *mem, struct recordables *ret, struct err *e) MUST_USE;

#endif
