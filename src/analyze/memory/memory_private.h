/* memory_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_MEMORY_MEMORY_PRIVATE_H
#define STRATA_ANALYZE_MEMORY_MEMORY_PRIVATE_H

#include "base/err.h"

struct context;
struct memory;

/* alloc_sites.c: who allocates inside the loop, and who keeps what it allocated. */

/* Fills m->sites. */
int alloc_sites_run(const struct context *cx, struct memory *m, struct err *e) MUST_USE;

#endif
