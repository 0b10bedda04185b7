/* gpu_ceilings.h: the ceilings of this GPU: given, kept from before, or measured now with the
 * user's own Python; the table of GPUs for the rest. */
#ifndef STRATA_CLI_GPU_CEILINGS_H
#define STRATA_CLI_GPU_CEILINGS_H

#include "analyze/kernels/ceilings.h"

struct ceilings_wish {
    struct str gpu;     /* .n is 0 when not known */
    const char *file;   /* --ceilings: a file, or "table" to measure nothing; NULL */
    const char *python; /* measure with this if nothing is kept; NULL: do not measure */
    bool again;         /* measure even when something is kept */
};

/* Only a file that was asked for and cannot be used is an error. */
int gpu_ceilings_get(const struct ceilings_wish *w, struct arena *mem, struct ceilings *ret,
                     struct err *e) MUST_USE;

/* What was measured before on a GPU of that name: only reads what is kept. False when there is
 * nothing, or it cannot be used. */
bool gpu_ceilings_kept(struct str gpu, struct arena *mem, struct ceilings *ret);

#endif
