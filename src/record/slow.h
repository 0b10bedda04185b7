/* slow.h: stages and steps that take far longer than they usually do. With STRATA_SLOW=1.5 one that
 * takes more than one and a half times its median asks the process's own control thread
 * (format/control.h) to write out what it keeps.
 *
 * The usual time is the median of the last calls of that name. Cold ones at the start do not count,
 * nor do differences too small to notice. */
#ifndef STRATA_RECORD_SLOW_H
#define STRATA_RECORD_SLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum slow_watch { SLOW_UNKNOWN, SLOW_OFF, SLOW_ON };
extern _Atomic enum slow_watch slow_watch;

/* What took so long: the higher it stands, the more it says to the user. Derived ones count only in
 * a program that names no stages. */
enum slow_rank { SLOW_DERIVED, SLOW_INNER, SLOW_OUTERMOST };

/* An outermost call without a name is what is known of a request. What its thread computed since
 * the one before belongs to it: a server reads and checks before it calls the model. What the
 * thread waited does not: it waits for requests. */
struct slow_round {
    uint32_t name; /* 0: not watched */
    uint64_t begin;
    int64_t before_ns;
};

void slow_look(enum slow_rank rank, const struct slow_round *call, uint64_t end);

/* Something called `name` (a string id) has taken from `begin` to `end`, in ticks. Any thread. */
static inline void slow_saw(enum slow_rank rank, uint32_t name, uint64_t begin, uint64_t end)
{
    if (atomic_load_explicit(&slow_watch, memory_order_relaxed) != SLOW_OFF)
        slow_look(rank, &(struct slow_round){name, begin, 0}, end);
}

void slow_round_open(struct slow_round *r);
void slow_round_close(const struct slow_round *r, uint64_t end);

static inline void slow_round_begins(struct slow_round *r, uint32_t name, uint64_t begin)
{
    bool off = atomic_load_explicit(&slow_watch, memory_order_relaxed) == SLOW_OFF;
    *r = (struct slow_round){off ? 0 : name, begin, 0};
    if (r->name) slow_round_open(r);
}

static inline void slow_round_ends(const struct slow_round *r, uint64_t end)
{
    if (r->name) slow_round_close(r, end);
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

/* One that was slow. */
struct slow_call {
    int64_t ns, median_ns;
    bool before; /* much of it came before the call itself */
};

/* What was reported last. Requests keep some seconds apart; one that stands higher, or is slower by
 * a larger factor, does not wait for that. */
struct slow_report {
    uint64_t at_ns; /* 0: none yet */
    enum slow_rank rank;
    double ratio;
};
bool slow_is_due(const struct slow_report *last, const struct slow_report *now);

/* "request took 1.02 s, 43.0 times its median of 23.7 ms"; with `before`, "... took 1.02 s with
 * what came before it, ..." (trace/snapshot_mark.h). */
void slow_text(char *out, size_t cap, struct str name, const struct slow_call *c);

#endif
