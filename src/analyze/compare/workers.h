/* workers.h: processes of a run that are not ranks: workers of a server or a DataLoader, helpers.
 * What they did counts for the process they work for; they are never compared with each other. */
#ifndef STRATA_ANALYZE_COMPARE_WORKERS_H
#define STRATA_ANALYZE_COMPARE_WORKERS_H

#include "format/timing.h"

/* Leaves one entry per rank, or the main process alone where there are no ranks; stages of the
 * others are added to it and run->n_workers counts them. Percentiles stay those of the process with
 * most calls. The main process is the one whose file has no number of a
 * process in its name, else the first. */
int workers_fold(struct timing_run *run, struct arena *mem, struct err *e) MUST_USE;

#endif
