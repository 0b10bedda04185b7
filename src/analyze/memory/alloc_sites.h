/* alloc_sites.h: who allocates inside the loop, and who keeps what it allocated. Part of
 * passes/memory. */
#ifndef STRATA_ANALYZE_MEMORY_ALLOC_SITES_H
#define STRATA_ANALYZE_MEMORY_ALLOC_SITES_H

#include "analyze/memory/memory.h"

/* Fills m->sites. */
int alloc_sites_run(const struct basics *b, const struct memory_levels *levels, struct arena *mem,
                    struct memory *m, struct err *e) MUST_USE;

#endif
