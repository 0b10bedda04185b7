/* resident.h: which modules stay on the device when only so many bytes may. */
#ifndef STRATA_OFFLOAD_RESIDENT_H
#define STRATA_OFFLOAD_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum resident_order {
    RESIDENT_SMALLEST, /* smallest first */
    RESIDENT_LARGEST,  /* largest first */
    RESIDENT_BEST,     /* what saves most time for its bytes first */
};

/* One module as far as choosing goes. */
struct resident_item {
    int64_t bytes;
    double worth; /* time it saves a step when it stays; RESIDENT_BEST only */
};

struct resident_query {
    const struct resident_item *items;
    uint32_t n;
    enum resident_order order;
    int64_t limit;
};

/* Takes modules in the order asked for, skipping those that no longer fit in `limit` bytes; among
 * equals the one that runs first. Sets `ret[i]` for each module and *ret_bytes. Scratch from `mem`,
 * given back; ERR_NOMEM is the only failure. */
int resident_choose(const struct resident_query *q, struct arena *mem, bool *ret,
                    int64_t *ret_bytes) MUST_USE;

#endif
