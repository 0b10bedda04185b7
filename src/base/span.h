/* span.h: pieces of time, and what they have in common. */
#ifndef STRATA_BASE_SPAN_H
#define STRATA_BASE_SPAN_H

#include <stdint.h>

struct span {
    int64_t begin_ns, end_ns; /* [begin, end) */
};

/* The part that lies in both; its end is not after its begin when they are apart. */
static inline struct span span_both(struct span a, struct span b)
{
    return (struct span){a.begin_ns > b.begin_ns ? a.begin_ns : b.begin_ns,
                         a.end_ns < b.end_ns ? a.end_ns : b.end_ns};
}

/* Its length, 0 when it is empty. */
static inline int64_t span_ns(struct span s)
{
    return s.end_ns > s.begin_ns ? s.end_ns - s.begin_ns : 0;
}

/* How much of spans that are added by begin has not been covered by those before: each moment
 * counts once. `covered_ns` is where they reach so far, INT64_MIN at first. */
static inline int64_t span_uncovered(int64_t *covered_ns, struct span s)
{
    int64_t fresh =
        span_ns((struct span){s.begin_ns > *covered_ns ? s.begin_ns : *covered_ns, s.end_ns});
    if (s.end_ns > *covered_ns) *covered_ns = s.end_ns;
    return fresh;
}

/* Adds a span that begins no earlier than those in `list`, which are apart: those that overlap or
 * touch become one. Returns the new length; `list` has room for one more. */
static inline uint32_t span_join(struct span *list, uint32_t n, struct span s)
{
    if (!n || s.begin_ns > list[n - 1].end_ns) list[n++] = s;
    else if (s.end_ns > list[n - 1].end_ns) list[n - 1].end_ns = s.end_ns;
    return n;
}

#endif
