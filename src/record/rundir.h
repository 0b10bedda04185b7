/* rundir.h: where a run's files go: {out}/{pipeline}/{YYYYMMDD_HHMMSS}/, or a folder named by the
 * user. A run never goes into the folder of another: a taken name gets _2, _3, ... */
#ifndef STRATA_RECORD_RUNDIR_H
#define STRATA_RECORD_RUNDIR_H

#include <stddef.h>

#include "base/err.h"

struct rundir_request {
    const char *dir;      /* this very folder (STRATA_RUN), or NULL */
    const char *out;      /* where runs are kept (STRATA_OUT), or NULL for strata_out */
    const char *pipeline; /* what is run (STRATA_PIPELINE), or NULL for the program's name */
};

#define RUNDIR_MAX 3584 /* bytes of a path, the terminator included: leaves room for file names */

/* Folders are named by local time. Which that is can not be found out in a signal handler, where a
 * folder may have to be made: it is asked for here, before. */
void rundir_note_zone(void);

/* Creates the folder and writes its absolute path to `ret`, of RUNDIR_MAX bytes. Ranks started by
 * one launcher get the same one, whoever comes first. */
int rundir_make(const struct rundir_request *r, char *ret, struct err *e) MUST_USE;

/* `name` as one safe component of a path, into `out` of `cap` bytes. */
void rundir_clean_name(const char *name, char *out, size_t cap);

#endif
