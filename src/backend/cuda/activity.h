/* activity.h: what the GPU did: CUPTI's activity records, fetched and recorded. */
#ifndef STRATA_BACKEND_ACTIVITY_H
#define STRATA_BACKEND_ACTIVITY_H

#include <stdbool.h>

#include "backend/backend.h"
#include "backend/cuda/cupti_api.h"

/* Switches the kinds on, with our buffers and our clock. */
int activity_start(const struct cupti_api *api, const struct backend_options *o,
                   struct err *e) MUST_USE;

/* Fetches what has ended and records it; with `all` also what has not. One thread at a time. */
void activity_fetch(bool all);

/* Switches the kinds off, and on again, with our buffers and our clock: another profiler may have
 * had the place in between, and must have ended. */
void activity_pause(bool paused);

/* Another profiler is about to begin, or has ended: everything so far is fetched on our clock; at
 * its end the place is ours again. Not while fetching. */
void activity_meet_other(bool begins);

/* After fork: the child has neither the GPU nor the library's threads. */
void activity_forget(void);

#endif
