/* gpu_tools.h: what is measured on the GPU of this machine: ceilings, counters, Nsight Compute. */
#ifndef STRATA_CLI_KERNELS_GPU_TOOLS_H
#define STRATA_CLI_KERNELS_GPU_TOOLS_H

#include "analyze/kernels/ceilings.h"
#include "dive/ncu_args.h"
#include "dive/ncu_csv.h"
#include "dive/pm_sampler.h"
#include "dive/targets.h"

/* gpu_ceilings.c: the ceilings of this GPU: given, kept from before, or measured now with the
 * user's own Python; the table of GPUs for the rest. */

struct ceilings_wish {
    struct str gpu;     /* .n is 0 when not known */
    const char *file;   /* --ceilings: a file, or "table" to measure nothing; NULL */
    const char *python; /* measure with this if nothing is kept; NULL: do not measure */
    bool again;         /* measure even when something is kept */
};

/* Only a file that was requested and cannot be used is an error. */
int gpu_ceilings_get(const struct ceilings_wish *w, struct arena *mem, struct ceilings *ret,
                     struct err *e) MUST_USE;

/* What was measured before on a GPU of that name: only reads what is kept. False when there is
 * nothing, or it cannot be used. */
bool gpu_ceilings_kept(struct str gpu, struct arena *mem, struct ceilings *ret);

/* ncu_run.c: driving Nsight Compute: finding it, running a program under it, reading its report. */

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
