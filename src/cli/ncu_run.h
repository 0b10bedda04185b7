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
    long skip;          /* launches of each kernel to skip first; -1: take it from the trace */
    int major;          /* compute capability of the GPU in the trace; 0 when not known */
    char **command;     /* NULL-terminated */
};

/* Measures the targets. If that fails for a reason the user can fix, ret_trouble explains it, `ret`
 * is empty and the result is 0: the trace alone can still be shown. */
int ncu_run_profile(const struct ncu_run *r, const struct targets *targets, struct arena *mem,
                    struct ncu_report *ret, struct ncu_trouble *ret_trouble,
                    struct err *e) MUST_USE;

/* Reads an existing report: .ncu-rep through ncu, or its CSV (raw or details page). Text that `ret`
 * points into lives in `mem`. */
int ncu_run_read(const char *path, struct arena *mem, struct ncu_report *ret,
                 struct err *e) MUST_USE;

/* Whether the file is such a report, by its name or its first bytes. */
bool ncu_run_is_report(const char *path);

#endif
