/* records.h: from CUPTI's activity records to records of ours, on the calling thread's ring. */
#ifndef STRATA_BACKEND_CUDA_RECORDS_H
#define STRATA_BACKEND_CUDA_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

enum record_times {
    TIMES_GOOD,
    TIMES_NONE,      /* it has none, or not all of them, or some that cannot be: never timed */
    TIMES_ELSEWHERE, /* they agree with each other, but not with our clock */
};

/* What the times of a record are worth, if ours lie between the two. */
enum record_times records_times(const void *record, uint64_t earliest, uint64_t latest);

/* When it began, in the record's own clock; 0: it has no time. */
uint64_t records_start(const void *record);

/* Whether both are there, one after the other: of a record that may be written to just now. */
bool records_settled(const void *record, uint64_t earliest, uint64_t latest);

/* One record, whatever its kind. Work is recorded without times unless they are TIMES_GOOD; what is
 * not work is left out then. Not safe on two threads at once. */
void records_put(const void *record, enum record_times times);

/* Whether everything about it is known; work without an end may still get one. */
bool records_complete(const void *record);

/* The devices that work was seen on, one bit each. On any thread. */
uint64_t records_devices(void);

/* Forgets what was remembered of kernels; after fork, at any moment of the parent's thread. */
void records_reset(void);

#endif
