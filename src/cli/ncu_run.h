/* ncu_run.h: driving Nsight Compute: finding it, running a program under it, reading its report. */
#ifndef STRATA_CLI_NCU_RUN_H
#define STRATA_CLI_NCU_RUN_H

#include "dive/ncu_csv.h"
#include "dive/ncu_log.h"
#include "dive/targets.h"

/* STRATA_NCU, `ncu` on the path, or where it is usually installed; NULL when there is none. */
const char *ncu_run_find(struct arena *mem);

struct ncu_run {
    const char *replay; /* "kernel" or "application" */
    const char *keep;   /* where the report is to stay; NULL for nowhere */
    long skip;          /* launches of each kernel to let go by; -1 as the trace says */
    int major;          /* compute capability of the GPU in the trace; 0 when not known */
    char **command;     /* NULL-terminated */
};

/* Measures the targets. When that was not possible for a reason the user can do something about,
 * ret_trouble says so, `ret` is empty and the result is 0: the trace is still there to look at. */
int ncu_run_profile(const struct ncu_run *r, const struct targets *targets, struct arena *mem,
                    struct ncu_report *ret, struct ncu_trouble *ret_trouble,
                    struct err *e) MUST_USE;

/* A report that exists: .ncu-rep through ncu, or its CSV (raw or details page). Text that `ret`
 * points into lives in `mem`. */
int ncu_run_read(const char *path, struct arena *mem, struct ncu_report *ret,
                 struct err *e) MUST_USE;

/* Whether the file is such a report, by its name or its first bytes. */
bool ncu_run_is_report(const char *path);

#endif
