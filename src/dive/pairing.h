/* pairing.h: which measured launch is which kernel of the trace. Recorders and Nsight Compute write
 * names differently, so names are compared in short, and grid and block have to be the same. Of
 * several such launches the one whose time is nearest to the one in the trace is meant. */
#ifndef STRATA_DIVE_PAIRING_H
#define STRATA_DIVE_PAIRING_H

#include "dive/ncu_csv.h"
#include "dive/targets.h"

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

#endif
