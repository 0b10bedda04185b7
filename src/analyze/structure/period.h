/* period.h: finds the stretch of a sequence that repeats itself, whatever comes before and after.
 *
 * Used on labels ("forward forward step forward forward step": period 3, twice) and on the names
 * of kernels in launch order, where warm-up stands in front and the layers of a model make
 * shorter repetitions inside the one that matters: the one that covers the most weight wins, the
 * shortest period among equals. */
#ifndef STRATA_ANALYZE_STRUCTURE_PERIOD_H
#define STRATA_ANALYZE_STRUCTURE_PERIOD_H

#include "base/arena.h"
#include "base/err.h"

struct period_seq {
    const uint32_t *items;
    const int64_t *weights; /* >= 0 */
    uint32_t n;
    uint32_t slack_pct; /* items in a hundred that may differ from one repetition to the next; with
                           any slack, the last repetition may also miss a tenth at its end */
};

struct repeat {
    uint32_t begin, period, count; /* count is 0 when nothing repeats */
    uint32_t end;   /* begin + period * count, or less when the sequence ends before */
    uint32_t spare; /* items from `end` on that go on repeating: less than a period */
    int64_t weight; /* of the items from begin to end */
};

/* O(n log n) time, O(n) scratch from `mem`, given back. `count` is at least 2 when found. */
int period_find(const struct period_seq *s, struct arena *mem, struct repeat *ret,
                struct err *e) MUST_USE;

/* The periods worth a check, the most telling first. */
enum { PERIOD_CANDIDATES = 64 };
int period_candidates(const struct period_seq *s, struct arena *mem, uint32_t *ret, uint32_t *ret_n,
                      struct err *e) MUST_USE;

#endif
