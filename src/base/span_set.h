/* span_set.h: many pieces of time as one, asked how much of a window they cover. */
#ifndef STRATA_BASE_SPAN_SET_H
#define STRATA_BASE_SPAN_SET_H

#include <stddef.h>

#include "base/span.h"

struct span_set {
    struct span *list; /* ascending, apart */
    uint32_t n;
    int64_t *before_ns; /* covered before list[i]; n + 1 of them, the last is the total */
};

/* Sorts the `n` spans of `s->list`, in any order and overlapping at will, and joins them; then
 * `s->before_ns`, with room for n + 1, is filled. O(n log n). */
void span_set_settle(struct span_set *s);

/* How much of [begin, end) the set covers: each moment counts once. O(log n). */
int64_t span_set_ns(const struct span_set *s, struct span window);

#endif
