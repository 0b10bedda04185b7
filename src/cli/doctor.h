/* doctor.h: what can be recorded on this machine, one probe at a time. */
#ifndef STRATA_CLI_DOCTOR_H
#define STRATA_CLI_DOCTOR_H

#include "base/arena.h"
#include "base/err.h"

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_ABSENT,  /* not here, and not needed on this machine */
    DOCTOR_MISSING, /* missing, and something cannot be recorded because of it */
};

struct doctor_probe {
    const char *id;   /* "cuda", "cupti" ...: stable, for JSON */
    const char *what; /* what it is about: "NVIDIA GPUs" */
    enum doctor_state state;
    const char *found;  /* what was found, or what is missing */
    const char *remedy; /* how to get it; NULL when there is nothing to do */
};

enum { DOCTOR_MOST = 16 };

struct doctor {
    struct doctor_probe list[DOCTOR_MOST];
    int n;
    const char *timeline; /* what would record a timeline: "cupti" or "torch.profiler" */
};

/* Looks at everything; texts live in `mem`. Fails only when out of memory. */
int doctor_run(struct doctor *d, struct arena *mem, struct err *e) MUST_USE;

#endif
