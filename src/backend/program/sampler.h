/* sampler.h: the Python stacks of threads at regular moments, so that time between two calls of the
 * driver has a function's name.
 *
 * A thread of ours looks at every watched thread about once a millisecond of wall clock, and reads
 * its frames from outside, through the kernel: the thread is not stopped, not signalled and runs no
 * code of ours, and no state of the interpreter can make us crash. One that does not run (its CPU
 * clock stops) is read as it is. One that runs may move while it is read: it is read twice, and
 * what both readings agree on, from the outermost function inwards, is its stack, with the one call
 * that is under way there at the second. */
#ifndef STRATA_BACKEND_SAMPLER_H
#define STRATA_BACKEND_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

struct sampler_options {
    unsigned samples_a_second; /* 0: chores only */
    void (*chore)(void);       /* run on our thread, some twenty times per second; may be NULL */
};

int sampler_start(const struct sampler_options *o, struct err *e) MUST_USE;

/* No thread is looked at after this returns. */
void sampler_stop(void);

/* The calling thread does work that matters: watch it until it ends. From callbacks of launches and
 * operators: two loads and a branch when it is watched already. */
extern atomic_bool sampler_may_join;
extern __thread bool sampler_has_joined __attribute__((tls_model("initial-exec")));
void sampler_join(void);

static inline void sampler_watch(void)
{
    if (__builtin_expect(!sampler_has_joined, 0) &&
        atomic_load_explicit(&sampler_may_join, memory_order_relaxed))
        sampler_join();
}

#endif
