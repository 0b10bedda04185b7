/* dive.h: the whole of a dive: the kernels that matter, what was measured of each, what it means.
 *
 *     trace ──> targets ──┬─> ncu_args ─> ncu ─> ncu_csv ─> pairing ─> profile ─┬─> verdict
 *                         └──────────── guess, where nothing could be measured ─┘
 */
#ifndef STRATA_DIVE_DIVE_H
#define STRATA_DIVE_DIVE_H

#include "dive/ncu_csv.h"
#include "dive/targets.h"
#include "dive/verdict.h"

/* pairing.c: which measured launch is which kernel of the trace. Recorders and Nsight Compute write
 * names differently, so names are compared in short, and grid and block have to be the same. Among
 * several such launches the one whose time is nearest to the one in the trace is meant. */

enum pairing {
    PAIRING_SAME,       /* name, grid and block agree */
    PAIRING_OTHER_SIZE, /* the kernel was measured, launched in another size */
    PAIRING_ABSENT      /* it was not launched, or not measured */
};

const char *pairing_key(enum pairing p); /* "same", "other_size", "absent" */

struct pair {
    enum pairing how;
    const struct ncu_launch *launch; /* NULL when absent */
    double time_ratio;               /* measured over traced; NaN when not known */
};

#define PAIRING_FAR 1.5 /* times longer or shorter: hardly the same work */

/* One for each target, in their order. Memory from `mem`. */
int pairing_run(const struct targets *targets, const struct ncu_report *report, struct arena *mem,
                struct pair **ret, struct err *e) MUST_USE;

/* A name of Nsight Compute in the short form that names of traces have. */
void pairing_short(struct str ncu_name, struct buf *out);

struct dive_kernel {
    const struct target *target;     /* NULL: in the report only */
    const struct ncu_launch *launch; /* NULL: not measured */
    enum pairing pairing;
    double time_ratio; /* measured over traced; NaN when not known */
    struct str short_name;
    enum kernel_family family;
    bool estimated; /* from the trace alone */
    struct profile profile;
    struct verdict verdict;
    double roof_pct; /* of the most that is possible at its intensity; NaN when not known */
};

struct dive {
    const struct targets *targets; /* NULL without a trace */
    struct ceilings ceilings;
    struct dive_kernel *kernels;
    uint32_t n;
    uint32_t n_measured;
    const char *trouble; /* why nothing was measured; NULL when it was */
    const char *remedy;
};

struct dive_in {
    const struct context *cx; /* NULL without a trace; targets likewise */
    const struct targets *targets;
    const struct ncu_report *report; /* NULL when there is none: everything is estimated */
    struct ceilings ceilings;
};

/* Memory from `mem`. Launches of the report that belong to no target follow the targets when there
 * is no trace, and are left out when there is one. */
int dive_run(const struct dive_in *in, struct arena *mem, struct dive *ret, struct err *e) MUST_USE;

#endif
