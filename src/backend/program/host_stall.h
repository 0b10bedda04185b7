/* host_stall.h: why a thread that launches work came late to its next call, as the kernel counts
 * it, without privileges. Where a thread spends long between two calls of the driver it says at the
 * next one how much of that time was not its own:
 *
 *     no core        it could run and had no core (run delay in schedstat)
 *     throttled      the same, because its cgroup had used up cpu.max
 *     page faults    minor ones by what one costs here; those that wait for a disk as they were
 *     GIL            it waited for Python's lock, as the sampling thread saw
 *
 * Between calls that come quickly one getrusage per millisecond keeps the counts fresh (0.4 us),
 * and one look at schedstat every 20 ms (5 us). A stall is a range of its own in the recording
 * (RING_HOST) with its arguments. What cannot be read is not known, and nothing is said of it. */
#ifndef STRATA_BACKEND_PROGRAM_HOST_STALL_H
#define STRATA_BACKEND_PROGRAM_HOST_STALL_H

#include <stdbool.h>
#include <stdint.h>

struct host_stall {
    uint64_t left; /* when its last call ended, ticks */
    uint64_t due;  /* when the counts are to be read again */
    uint64_t read_at, delay_at;
    uint64_t cpu_ns, delay_ns, gil_ns;
    int64_t minor, major;
};

extern __thread struct host_stall *host_stall_me __attribute__((tls_model("initial-exec")));
extern uint64_t host_stall_long; /* ticks; never reached before the begin */

/* Recording begins, or goes on: what came before says nothing. */
void host_stall_begin(void);

/* Occasionally, on a thread of ours. */
void host_stall_chore(void);

/* Whether the thread waits for Python's lock now. On a thread of ours. */
bool host_stall_waits_for_gil(int tid);

/* The slow ways of those below. */
void host_stall_join(uint64_t now);
void host_stall_refresh(struct host_stall *h, uint64_t now);
void host_stall_outside(struct host_stall *h, uint64_t now);
void host_stall_inside(struct host_stall *h, uint64_t begin, uint64_t end);

/* The calling thread begins a call of the driver. */
static inline void host_stall_enters(uint64_t now)
{
    struct host_stall *h = host_stall_me;
    if (h && __builtin_expect(now - h->left > host_stall_long, 0)) host_stall_outside(h, now);
}

/* It has ended. */
static inline void host_stall_leaves(uint64_t begin, uint64_t end)
{
    struct host_stall *h = host_stall_me;
    if (__builtin_expect(!h, 0)) {
        host_stall_join(end);
        return;
    }
    if (__builtin_expect(end - begin > host_stall_long, 0)) host_stall_inside(h, begin, end);
    else if (__builtin_expect(end >= h->due, 0)) host_stall_refresh(h, end);
    h->left = end;
}

#endif
