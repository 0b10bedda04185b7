/* guard.h: locks in somebody else's process.
 *
 * While a guard is held its thread runs no signal handler and cannot be cancelled: a handler that
 * marks something would wait for the thread that it interrupted, and a thread that ends here would
 * take the lock with it. Handlers may also have interrupted malloc, on this thread or on one that
 * waits for us: what is done under a guard that a mark may need does not use the heap.
 *
 * A child that was made behind the C library's back (a bare SYS_fork) has seen no fork handlers.
 * The first guard it takes runs them. */
#ifndef STRATA_RECORD_GUARD_H
#define STRATA_RECORD_GUARD_H

#include <pthread.h>
#include <signal.h>

struct guard {
    sigset_t mask; /* as they were */
    int cancel;
};

/* Takes `lock`; NULL takes none and only keeps handlers and cancellation away. */
void guard_enter(struct guard *g, pthread_mutex_t *lock);
void guard_leave(const struct guard *g, pthread_mutex_t *lock);

/* `in_child` is called once in a child that does not know about its birth; it ends with
 * guard_forked, as the handler of a usual fork does. */
void guard_watch_forks(void (*in_child)(void));
void guard_forked(void);

#endif
