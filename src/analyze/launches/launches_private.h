/* launches_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_LAUNCHES_LAUNCHES_PRIVATE_H
#define STRATA_ANALYZE_LAUNCHES_LAUNCHES_PRIVATE_H

#include "base/err.h"

struct device_line;
struct device_queue;
struct arena;

/* device_queue.c: the queue of one device, summed up. */

/* Fills everything but the queue itself, which must be there. Scratch from `mem`. */
int device_queue_sum(const struct device_line *d, struct device_queue *q, struct arena *mem,
                     struct err *e) MUST_USE;

#endif
