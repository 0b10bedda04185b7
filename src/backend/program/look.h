/* look.h: one look at one thread from outside, through the kernel: the thread is not stopped, not
 * signalled and runs no code of ours, and no state of the interpreter can make us crash.
 *
 * One that does not run (its CPU clock stops) is read as it is. One that runs may move while it is
 * read: it is read twice, and what both readings agree on, from the outermost function inwards, is
 * its stack, with the one call that is under way there at the second.
 *
 * Reading a thread that runs costs the thread time, too: the lines of its frames leave its cache.
 * So one that has read itself lately (watched.h), or is in a call and will, is left alone, and the
 * others are read within a budget: a hundredth of a core at 1000 looks per second. */
#ifndef STRATA_BACKEND_LOOK_H
#define STRATA_BACKEND_LOOK_H

#include "backend/program/watched.h"

/* All of these on the sampling thread, or when there is none. */
void look_begin(uint64_t period_ns);
void look_at(struct watched *w);

/* Nobody looks any more: one that stands was there until now. */
void look_end(struct watched *w);

#endif
