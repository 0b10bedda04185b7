/* pages.h: memory straight from the system, for what must not use the heap (guard.h). */
#ifndef STRATA_RECORD_PAGES_H
#define STRATA_RECORD_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Whole pages, cleared; NULL when out of memory. */
void *pages_take(size_t n);
void pages_give(void *p, size_t n);

/* A child finds these pages cleared; false where the system cannot do that. `p` is of pages_take.
 */
bool pages_wipe_on_fork(void *p, size_t n);

/* A child has no such pages at all. */
void pages_keep_from_child(void *p, size_t n);

/* Small blocks that are never given back; all zero is a valid empty one. */
struct pages {
    char *at;
    size_t left;
};

/* Aligned for any type; NULL when out of memory. */
void *pages_alloc(struct pages *p, size_t n);

#endif
