/* sampler.h: the Python stacks of threads at regular moments, so that time between two calls of the
 * driver has a function's name.
 *
 * A thread of ours looks at every watched thread about once a millisecond of wall clock. One that
 * is running (its CPU clock moves) gets a signal, and copies its raw frames in the handler; one
 * that stands still is read from outside, which counts only if it has not run meanwhile. So a
 * thread that sleeps or waits in the kernel is never disturbed. All memory is read through the
 * kernel, so that no state of the interpreter can make us crash. What the frames mean is worked
 * out on our thread: the handler takes no lock, allocates nothing and writes no file.
 *
 * The signal is SIGURG, which is ignored where nobody handles it: one that arrives late, after
 * exec or in a program that has taken our handler away, does nothing. When the program handles
 * SIGURG itself we take no samples of running threads. */
#ifndef STRATA_BACKEND_SAMPLER_H
#define STRATA_BACKEND_SAMPLER_H

#include <stdbool.h>

#include "base/err.h"

struct sampler_options {
    unsigned samples_a_second; /* 0: chores only */
    void (*chore)(void);       /* run on our thread, some twenty times a second; may be NULL */
};

/* ERR_UNSUPPORTED when the signal is the program's: threads that run are then not sampled. */
int sampler_start(const struct sampler_options *o, struct err *e) MUST_USE;

/* No thread is looked at after this returns. */
void sampler_stop(void);

/* The calling thread does work that matters: watch it until it ends. From the callback of a launch:
 * one load and a branch when it is watched already or there is no sampler. */
extern __thread bool sampler_watched __attribute__((tls_model("initial-exec")));
void sampler_add(void);

static inline void sampler_watch(void)
{
    if (__builtin_expect(!sampler_watched, 0)) sampler_add();
}

#endif
