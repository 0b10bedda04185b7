/* records.h: from CUPTI's activity records to records of ours, on the calling thread's ring. */
#ifndef STRATA_BACKEND_RECORDS_H
#define STRATA_BACKEND_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

/* One record, whatever its kind. Not safe on two threads at once. */
void records_put(const void *record);

/* Whether everything about it is known; work without an end may still get one. */
bool records_complete(const void *record);

/* Whether its times, where it has any, lie between the two. */
bool records_between(const void *record, uint64_t earliest, uint64_t latest);

/* The devices that work was seen on, one bit each. On any thread. */
uint64_t records_devices(void);

/* Forgets what was remembered of kernels; after fork, at any moment of the parent's thread. */
void records_reset(void);

#endif
