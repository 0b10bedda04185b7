/* procfile.h: the .proc file of this process (format/ring.h): who it is, its strings, how it
 * ended. */
#ifndef STRATA_RECORD_PROCFILE_H
#define STRATA_RECORD_PROCFILE_H

#include "base/clock.h"
#include "format/ring.h"
#include "record/rundir.h"
#include "record/spool.h"

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
