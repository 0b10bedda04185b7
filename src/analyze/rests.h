/* rests.h: recordings of a recorder that rests in a long run (backend/rest.h).
 *
 *     recorded |  unit  unit  un|it  unit  unit  uni|t  unit  |
 *                            rests           wakes
 *     kept     |  unit  unit             unit  unit   ...
 *
 * A rest is not idle time: it is taken out, together with the units that it cuts. What lies before
 * moves up, and work of a device goes with its launch, since it may run behind. Stages and ranges
 * were recorded all the time: what the whole run is made of is counted before. */
#ifndef STRATA_ANALYZE_RESTS_H
#define STRATA_ANALYZE_RESTS_H

#include "trace/trace.h"

/* Takes the rests out of *t, and says so in (*t)->part.rests; nothing where it has none. */
int rests_cut(struct trace **t, struct err *e) MUST_USE;

#endif
