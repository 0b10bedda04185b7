/* slow.h: stages and steps that take far longer than they usually do. With STRATA_SLOW=1.5 one that
 * takes more than one and a half times its median asks the process's own control thread
 * (format/control.h) to write out what it keeps.
 *
 * The usual time is the median of the last calls of that name. Cold ones at the start do not count,
 * nor do differences that nobody would notice. */
#ifndef STRATA_RECORD_SLOW_H
#define STRATA_RECORD_SLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum slow_watch { SLOW_UNKNOWN, SLOW_OFF, SLOW_ON };
extern _Atomic enum slow_watch slow_watch;

void slow_look(uint32_t name, uint64_t begin, uint64_t end);

/* Something called `name` (a string id) has taken from `begin` to `end`, in ticks. Any thread. */
static inline void slow_saw(uint32_t name, uint64_t begin, uint64_t end)
{
    if (atomic_load_explicit(&slow_watch, memory_order_relaxed) != SLOW_OFF)
        slow_look(name, begin, end);
}

/* A step of the main loop begins: the one before has ended. */
void slow_step(void);

/* What is known of one name: whether `ns` is far more than usual, by `limit`, and what is usual. It
 * counts from then on. */
enum { SLOW_KEPT = 32, SLOW_LEAST = 10, SLOW_COLD = 2 };
struct slow_times {
    uint32_t name; /* 0: free */
    uint32_t n;    /* calls so far */
    int64_t median_ns;
    int64_t ns[SLOW_KEPT]; /* the last */
};
bool slow_add(struct slow_times *t, int64_t ns, double limit);

#endif
