/* resident.h: how much memory the process holds, as a counter of its recording, so that the stages
 * of any program have a peak. Ends of ranges ask; a look costs some microseconds and is made every
 * RESIDENT_MS at most, so what ends in between shares it. */
#ifndef STRATA_RECORD_RESIDENT_H
#define STRATA_RECORD_RESIDENT_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint64_t resident_next; /* when to look again, in ticks */

void resident_look(uint64_t ticks);

/* A range of this thread has ended at `ticks`. */
static inline void resident_saw(uint64_t ticks)
{
    if (__builtin_expect(ticks >= atomic_load_explicit(&resident_next, memory_order_relaxed), 0))
        resident_look(ticks);
}

#endif
