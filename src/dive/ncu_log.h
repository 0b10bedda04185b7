/* ncu_log.h: what Nsight Compute says when it could not do what it was asked to, and what to do. */
#ifndef STRATA_DIVE_NCU_LOG_H
#define STRATA_DIVE_NCU_LOG_H

#include <stdbool.h>

#include "base/arena.h"

struct ncu_trouble {
    const char *what; /* NULL when the log has nothing to complain about */
    const char *remedy;
    bool nothing_ran; /* no kernel of those asked for was launched in time */
};

/* `text` is its log. Memory from `mem`. */
struct ncu_trouble ncu_log_trouble(struct str text, struct arena *mem);

#endif
