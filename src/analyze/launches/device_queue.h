/* device_queue.h: the queue of one device, summed up. Part of passes/launches. */
#ifndef STRATA_ANALYZE_LAUNCHES_DEVICE_QUEUE_H
#define STRATA_ANALYZE_LAUNCHES_DEVICE_QUEUE_H

#include "analyze/launches/launches.h"

/* Fills everything but the queue itself, which must be there. Scratch from `mem`. */
int device_queue_sum(const struct device_line *d, struct device_queue *q, struct arena *mem,
                     struct err *e) MUST_USE;

#endif
