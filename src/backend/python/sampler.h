/* sampler.h: the Python stacks of threads at regular moments, so that time between two calls of the
 * driver has a function's name.
 *
 * A thread of ours looks at every watched thread about once a millisecond of wall clock. One that
 * is running (its CPU clock moves) is asked to look at itself: at its next launch or operator,
 * where that costs a fraction of a microsecond, or, when none comes soon, in the handler of a
 * signal. One that stands still is read from outside, which counts only if it has not run
 * meanwhile. So a thread that sleeps or waits in the kernel is never disturbed. The handler and the
 * look from outside read memory through the kernel, so that no state of the interpreter can make
 * us crash. What raw frames mean is worked out on our thread: the handler takes no lock, allocates
 * nothing and writes no file.
 *
 * The signal is SIGURG, which is ignored where nobody handles it: one that arrives late, after
 * exec or in a program that has taken our handler away, does nothing. When the program handles
 * SIGURG itself we take no samples of threads that run and launch nothing. */
#ifndef STRATA_BACKEND_SAMPLER_H
#define STRATA_BACKEND_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

struct sampler_options {
    unsigned samples_a_second; /* 0: chores only */
    void (*chore)(void);       /* run on our thread, some twenty times a second; may be NULL */
};

/* ERR_UNSUPPORTED when the signal is the program's, which does not keep the rest from working. */
int sampler_start(const struct sampler_options *o, struct err *e) MUST_USE;

/* No thread is looked at after this returns. */
void sampler_stop(void);

/* The calling thread does work that matters: watch it until it ends, and, when it was asked to,
 * note its stack. From callbacks of launches and operators, never from a signal handler: one load
 * and a branch when there is nothing to do. */
extern __thread const atomic_bool *sampler_turn __attribute__((tls_model("initial-exec")));
void sampler_take_turn(void);

static inline void sampler_watch(void)
{
    if (__builtin_expect(atomic_load_explicit(sampler_turn, memory_order_relaxed), 0))
        sampler_take_turn();
}

#endif
