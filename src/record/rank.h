/* rank.h: which of several processes this one is, from what its launcher left in the environment:
 * torchrun, Open MPI, MPICH and Intel MPI (PMI), PMIx, Slurm. */
#ifndef STRATA_RECORD_RANK_H
#define STRATA_RECORD_RANK_H

#include <stdbool.h>
#include <stddef.h>

struct rank {
    int rank, world; /* -1, -1 when the process was started alone */
};

struct rank rank_find(void);

/* A text that all processes of this launch write, and no other process, so that they can agree on
 * one folder: STRATA_LAUNCH when a parent set it, else what the launcher has given all its ranks;
 * false when the process was started alone. */
bool rank_launch_key(char *out, size_t cap);

#endif
