/* alloc_sites.h: who allocates inside the loop, and who keeps what it allocated. Part of
 * passes/memory. */
#ifndef STRATA_ANALYZE_MEMORY_ALLOC_SITES_H
#define STRATA_ANALYZE_MEMORY_ALLOC_SITES_H

#include "analyze/memory/memory.h"

/* Fills m->sites. */
int alloc_sites_run(const struct context *cx, struct memory *m, struct err *e) MUST_USE;

#endif
