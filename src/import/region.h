/* region.h: a large range of addresses that is written from start to end, of which only a window
 * takes memory: pages that are no longer needed at the back are moved to the front.
 *
 *     |.. empty ..|== may be reclaimed ==|== in use ==|.. reserved, no memory yet ..|
 *              reclaimed             released      committed
 */
#ifndef STRATA_IMPORT_REGION_H
#define STRATA_IMPORT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct region {
    char *p;
    size_t reserved, committed, reclaimed;
    void *mapping; /* holds p, which begins at a large page */
    size_t mapped;
};

/* Reserves address space for up to `most` bytes, or what can be had. */
int region_init(struct region *r, uint64_t most, struct err *e) MUST_USE;
void region_done(struct region *r);

/* Makes the bytes up to `upto` writable. What lies before `released` may lose its memory: it can
 * still be looked at, but reads as anything. The content of new pages is not defined either. */
int region_commit(struct region *r, uint64_t upto, uint64_t released, struct err *e) MUST_USE;

#endif
