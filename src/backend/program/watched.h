/* watched.h: the threads whose Python stacks are known between their calls.
 *
 * A thread that makes calls of the driver reads its own stack at one of them, when a period has
 * passed since it was last read: its frames are in its own cache and hold still. One that makes no
 * calls for longer is read from outside (thread_peek.c). Where reading is slow, with deep stacks
 * and cold caches, it becomes rarer: it may take one part in WATCHED_PARTS of the time, but periods
 * are never longer than WATCHED_MOST_PERIODS, or too little would be known of what ran between.
 *
 * A watched thread has a place. Places are never freed, only used again. A thread that ends gives
 * its place back and waits, by the lock, for the sampling thread to look away: its thread state is
 * the interpreter's to free. */
#ifndef STRATA_BACKEND_PROGRAM_WATCHED_H
#define STRATA_BACKEND_PROGRAM_WATCHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "backend/program/pytable.h"

enum { WATCHED_PARTS = 200, WATCHED_MOST_PERIODS = 3 };

struct watched {
    /* Written by the thread itself, on cache lines that no other thread writes to. */
    char before[64];
    _Atomic uint64_t in_call; /* since when it is in a call that says so at its end; 0: in none */
    _Atomic uint64_t due;     /* when it is to read itself again */
    char after[64];

    _Atomic uint64_t gil_ns; /* it has waited for Python's lock, as seen from outside */

    _Atomic int tid; /* 0: the place is free */
    uintptr_t tstate;
    clockid_t cpu_clock;

    /* The sampling thread's own. */
    struct pywalk_memo walk_memo;
    struct pytable_memo stack_memo;
    uintptr_t outermost[2]; /* frames that stacks ended at: the last that counted, the last seen */
    uint64_t cpu_ns;        /* of the thread, at the last look */
    uint32_t standing;      /* the stack it stands at, 0 when it ran since */
    uint32_t stood, skip;   /* looks that found it there; how many are left out now */
    uint64_t standing_from; /* ticks */
    uint64_t standing_to;   /* when it was last found there */
    uint64_t gil_at;        /* when it was last found waiting for Python's lock; 0: runs since */
};

extern _Atomic uint64_t watched_period; /* ticks */
extern atomic_bool watched_open;        /* threads may join and read themselves */
extern __thread bool watched_joined __attribute__((tls_model("initial-exec")));
extern __thread struct watched *watched_me __attribute__((tls_model("initial-exec")));

/* Once; before anything else here. */
void watched_prepare(void);

/* From here on threads join, and read themselves once per period; or no longer. */
void watched_begin(uint64_t period_ticks);
void watched_end(void);

/* The slow ways of those below. */
void watched_join(void);
void watched_read(uint64_t ticks);

/* The calling thread does work that matters: watch it until it ends. */
static inline void watched_add_me(void)
{
    if (__builtin_expect(!watched_joined, 0) &&
        atomic_load_explicit(&watched_open, memory_order_relaxed))
        watched_join();
}

/* A call begins that ends with one of the next two. */
static inline void watched_enters(uint64_t ticks)
{
    if (watched_me) atomic_store_explicit(&watched_me->in_call, ticks, memory_order_relaxed);
}

static inline void watched_wait_until(uint64_t due)
{
    atomic_store_explicit(&watched_me->due, due, memory_order_relaxed);
}

/* It has ended, and its stack is written down. */
static inline void watched_was_seen(uint64_t ticks)
{
    if (!watched_me) {
        watched_add_me();
        return;
    }
    atomic_store_explicit(&watched_me->in_call, 0, memory_order_relaxed);
    watched_wait_until(ticks + atomic_load_explicit(&watched_period, memory_order_relaxed));
}

/* It has ended, or an operator begins: a moment to read the stack if it is time. */
static inline void watched_passes(uint64_t ticks)
{
    if (!watched_me) {
        watched_add_me();
        return;
    }
    atomic_store_explicit(&watched_me->in_call, 0, memory_order_relaxed);
    uint64_t due = atomic_load_explicit(&watched_me->due, memory_order_relaxed);
    if (__builtin_expect(ticks >= due, 0)) watched_read(ticks);
}

/* For the sampling thread: while it holds them no watched thread ends. */
void watched_hold(void);
void watched_release(void);
int watched_count(void);
struct watched *watched_at(int i); /* NULL when the place is free */

/* thread_peek.c: one look at one thread from outside, through the kernel: the thread is not
 * stopped, not signalled and runs no code of ours, and no state of the interpreter can make us
 * crash.
 *
 * One that does not run (its CPU clock stops) is read as it is. One that runs may move while it is
 * read: it is read twice, and what both readings agree on, from the outermost function inwards, is
 * its stack, with the one call that is under way there at the second.
 *
 * Reading a thread that runs costs the thread time, too: the lines of its frames leave its cache.
 * So one that has read itself lately (watched.h), or is in a call and will, is left alone, and the
 * others are read within a budget: 1 % of a core at 1000 looks per second. */

/* All of these on the sampling thread, or when there is none. */
void thread_peek_begin(uint64_t period_ns);
void thread_peek_at(struct watched *w);

/* Nothing looks any more: one that stands was there until now. */
void thread_peek_end(struct watched *w);

#endif
