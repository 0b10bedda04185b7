/* repeats.h: what a program repeats, as it happens: calls of stages, modules and ranges, steps.
 *
 * The unit is the name that most of the time was spent in. Once enough of its last calls took about
 * as long as each other, everything that there is to see of the program was seen: who records may
 * rest (backend/rest.h). The Python extension and the library that CUDA loads are recorders of
 * their own in one process; the library reads what the extension has seen through a pointer. */
#ifndef STRATA_RECORD_REPEATS_H
#define STRATA_RECORD_REPEATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Written here alone, but for the last, and read by any thread at any time. */
struct repeats_seen {
    _Atomic uint64_t total_ns; /* spent in the unit so far */
    _Atomic uint64_t usual_ns; /* the median of its last calls */
    _Atomic uint32_t name, n;  /* which it is, 0: none yet; how many have ended */
    _Atomic bool steady;       /* enough of them, all alike */
    _Atomic bool rests;        /* who records rests: what is inside of units is not wanted now */
};

/* Begins to look; what it finds. */
struct repeats_seen *repeats_watch(void);
bool repeats_rest(void);

extern atomic_bool repeats_watched;
void repeats_add(uint32_t name, uint64_t begin, uint64_t end);

/* Something called `name` (a string id) has taken from `begin` to `end`, in ticks. Any thread. */
static inline void repeats_saw(uint32_t name, uint64_t begin, uint64_t end)
{
    if (atomic_load_explicit(&repeats_watched, memory_order_relaxed)) repeats_add(name, begin, end);
}

/* A step of the main loop begins: the one before has ended. */
void repeats_step(void);

/* What is known of one name. */
enum { REPEATS_KEPT = 16, REPEATS_ENOUGH = 20 };
struct repeat_times {
    uint32_t name, n; /* calls so far */
    uint64_t total_ns;
    uint64_t ns[REPEATS_KEPT]; /* the last */
};

void repeat_add(struct repeat_times *t, uint64_t ns);

/* The median of the last calls, and whether they are enough, and alike. */
uint64_t repeat_usual(const struct repeat_times *t, bool *ret_steady);

#endif
