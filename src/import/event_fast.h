/* event_fast.h: the same as event_scan, for events as they are usually written. */
#ifndef STRATA_IMPORT_EVENT_FAST_H
#define STRATA_IMPORT_EVENT_FAST_H

#include "import/event.h"

/* Reads the event whose opening brace is at `p`. Returns the place after its closing brace, or
 * NULL when it meets anything out of the ordinary: damage, but also rare ways to write a number.
 * The caller then uses event_scan, which gives the same answer where both have one. */
typedef const char *event_fast_fn(const char *p, const char *end, struct event *ev);

/* The fastest version this processor can run. */
event_fast_fn *event_fast(void);

/* The versions by name, for tests; NULL where this processor or build has none. */
event_fast_fn *event_fast_named(const char *name);

#endif
