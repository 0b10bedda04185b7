/* gpu_ceilings.h: the ceilings of this GPU: given, kept from before, or measured now with the
 * user's own Python; datasheet values for the rest. */
#ifndef STRATA_CLI_GPU_CEILINGS_H
#define STRATA_CLI_GPU_CEILINGS_H

#include "dive/ceilings.h"

struct ceilings_wish {
    struct str gpu;     /* .n is 0 when not known */
    const char *file;   /* --ceilings: a file, or "datasheet" to measure nothing; NULL */
    const char *python; /* measure with this if nothing is kept; NULL: do not measure */
    bool again;         /* measure even when something is kept */
};

/* Only a file that was asked for and cannot be used is an error. */
int gpu_ceilings_get(const struct ceilings_wish *w, struct arena *mem, struct ceilings *ret,
                     struct err *e) MUST_USE;

#endif
