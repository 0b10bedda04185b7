/* rundir.h: where a run's files go: {out}/{pipeline}/{YYYYMMDD_HHMMSS}/, or a folder named by the
 * user. A run never goes into the folder of another: a taken name gets _2, _3, ... */
#ifndef STRATA_RECORD_RUNDIR_H
#define STRATA_RECORD_RUNDIR_H

#include <stddef.h>

#include "base/clock.h"
#include "base/err.h"
#include "format/ring.h"
#include "record/spool.h"

struct rundir_request {
    const char *dir;      /* this very folder (STRATA_RUN), or NULL */
    const char *out;      /* where runs are kept (STRATA_OUT), or NULL for strata_out */
    const char *pipeline; /* what is run (STRATA_PIPELINE), or NULL for the program's name */
};

#define RUNDIR_MAX 3584 /* bytes of a path, the terminator included: leaves room for file names */

/* Folders are named by local time. Which that is can not be found out in a signal handler, where a
 * folder may have to be made: it is requested here, before. */
void rundir_note_zone(void);

/* Creates the folder and writes its absolute path to `ret`, of RUNDIR_MAX bytes. Ranks started by
 * one launcher get the same one, in whatever order they come. */
int rundir_make(const struct rundir_request *r, char *ret, struct err *e) MUST_USE;

/* `name` as one safe component of a path, into `out` of `cap` bytes. */
void rundir_clean_name(const char *name, char *out, size_t cap);

/* procfile.c: the .proc file of this process (format/ring.h): who it is, its strings, how it
 * ended. */

#define PROCFILE_PATH (RUNDIR_MAX + 160)

struct procfile {
    struct spool file;
    struct proc_head *head;
    char stem[PROCFILE_PATH - 32]; /* the path without ".proc" */
};

struct procfile_facts {
    enum clock_source clock;
    double ticks_per_second;
    int rank, world;
};

/* Creates {folder}/rings/HOST-PID-START.proc and sends the names there. */
int procfile_open(struct procfile *p, const char *folder, const struct procfile_facts *facts,
                  struct err *e) MUST_USE;

/* Notes an orderly end. The file stays open: threads may go on recording. */
void procfile_close(struct procfile *p, struct clock_pair now);

/* In a forked child: drops the parent's file without writing to it. */
void procfile_forget(struct procfile *p);

void procfile_ring_path(const struct procfile *p, int n, char out[PROCFILE_PATH]);

#endif
