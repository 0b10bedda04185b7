/* sampler.h: the Python stacks of threads at about regular moments, so that time between two calls
 * of the driver has a function's name.
 *
 * Threads that make calls read themselves (watched.h). A thread of ours wakes up once per period
 * and looks at those that have not (look.h): a program that launches all the time is not looked at
 * at all. It takes at most a fiftieth of a core, also where there are many threads. */
#ifndef STRATA_BACKEND_SAMPLER_H
#define STRATA_BACKEND_SAMPLER_H

#include "base/err.h"

struct sampler_options {
    unsigned samples_a_second; /* 0: chores only */
    void (*chore)(void);       /* run on our thread, some twenty times per second; may be NULL */
};

int sampler_start(const struct sampler_options *o, struct err *e) MUST_USE;

/* No thread is looked at after this returns. */
void sampler_stop(void);

#endif
