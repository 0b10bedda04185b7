/* held_thread.h: one thread of another process, stopped for a moment, in which functions of that
 * process are called.
 *
 * A call is made the way the kernel delivers a signal: what the thread was doing is written to its
 * stack as a signal frame, and the function returns into the C library's rt_sigreturn, by which the
 * kernel puts everything back: registers, vector registers, signal mask. So the thread goes on
 * where it was whether or not we are still there: if `strata` is killed, the kernel lets go of the
 * thread, and the call ends by itself. Nothing is left that only we could restore.
 *
 * System calls that the stop interrupted are made again, with their arguments. */
#ifndef STRATA_ATTACH_HELD_THREAD_H
#define STRATA_ATTACH_HELD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/target.h"

/* Registers that are needed to judge where a thread is. */
struct held_registers {
    uint64_t ip, sp, bp, bx, r12, r13, r14, r15, fs_base;
};

struct held_thread {
    const struct target *target;
    long tid;
    uintptr_t restorer; /* of the C library: calls rt_sigreturn */
    uintptr_t asker;    /* the same: makes the system call that is in rax, and returns */
    struct held_registers at;
    uint64_t since_ns;
    void *state; /* private */
};

enum held_kind {
    HELD_SYSCALL,   /* a function that makes one system call: its result is returned */
    HELD_SHORT,     /* a few instructions that leave the first argument, -1, alone: what it
                       returns, 0 or 1 */
    HELD_REVOCABLE, /* taken back when it has to wait, before it has done anything; no result */
    HELD_FINAL,     /* ends by itself, however long that takes; no result */
};

struct held_call {
    uintptr_t function;
    uint64_t args[6];
    enum held_kind kind;
};

/* Stops the thread. ERR_UNSUPPORTED when that is forbidden, ERR_LIMIT when it does not stop. */
int held_thread_stop(struct held_thread *h, const struct target *t, long tid, uintptr_t restorer,
                     struct err *e) MUST_USE;

/* ERR_LIMIT: it waits for something and was taken back, or goes on by itself. */
int held_thread_call(struct held_thread *h, const struct held_call *c, uint64_t *ret,
                     struct err *e) MUST_USE;

/* Lets it go; how long it was held. */
uint64_t held_thread_release(struct held_thread *h);

/* safe_point.c: whether a function that allocates memory may be called in a thread where it is
 * just now.
 *
 * Not in the C library, the loader or the allocator, whose locks the thread may hold, except where
 * the program has called one of the C library's functions that wait: these hold none. Not in a
 * signal handler, which may have interrupted any of them. And only on the thread's own stack:
 * coroutines have small ones. */

enum { SAFE_POINT_FAMILY = 4, SAFE_POINT_WAITS = 160 };

struct safe_point {
    const struct target *target;
    struct safe_point_library {
        const struct target_module *module;
        uint8_t *image; /* a copy of what is readable */
    } family[SAFE_POINT_FAMILY];
    size_t n_family;
    const struct target_module *loader, *allocator;
    struct target_function waits[SAFE_POINT_WAITS];
    size_t n_waits;
    uintptr_t restorer; /* the C library's rt_sigreturn */
    uintptr_t asker;    /* any system call of it that returns at once */
};

/* ERR_UNSUPPORTED for a process without the GNU C library. */
int safe_point_init(struct safe_point *s, const struct target *t, struct err *e) MUST_USE;
void safe_point_done(struct safe_point *s);

/* Whether a stack of that thread's own is in use, with room for a call. */
bool safe_point_has_stack(const struct safe_point *s, const struct held_thread *h);

/* NULL when anything may be called; else why not. */
const char *safe_point_check(const struct safe_point *s, const struct held_thread *h);

#endif
