/* guard.h: locks in the user's process.
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
#include <stdbool.h>
#include <stddef.h>

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

/* shield.c: mappings of files that another process may cut short while we write to them. Touching
 * what is no longer there is a SIGBUS, and would be the end of the program: instead memory takes
 * its place, and what is written from then on is lost.
 *
 * A handler of the program's own for that signal is left alone, before as after. */

/* Whole pages of a mapping; as many as there are rings can be held at once. */
void shield_add(void *p, size_t n);
void shield_remove(const void *p);

/* In a forked child: none of them is its own. */
void shield_forget(void);

/* Whether it was needed. */
bool shield_was_hit(void);

#endif
