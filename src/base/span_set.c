/* span_set.c: see span_set.h. */
#include "base/span_set.h"

#include <stdlib.h>

#include "base/search.h"

static int span_set_by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

void span_set_settle(struct span_set *s)
{
    uint32_t n = 0;
    if (s->n) qsort(s->list, s->n, sizeof *s->list, span_set_by_begin);
    for (uint32_t i = 0; i < s->n; i++) n = span_join(s->list, n, s->list[i]);
    s->n = n;
    s->before_ns[0] = 0;
    for (uint32_t i = 0; i < n; i++) s->before_ns[i + 1] = s->before_ns[i] + span_ns(s->list[i]);
}

static int64_t span_set_until(const struct span_set *s, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, s->n, s->list[i].end_ns <= ts_ns);
    int64_t sum = s->before_ns[i];
    return i < s->n && s->list[i].begin_ns < ts_ns ? sum + ts_ns - s->list[i].begin_ns : sum;
}

int64_t span_set_ns(const struct span_set *s, struct span window)
{
    return window.end_ns > window.begin_ns
               ? span_set_until(s, window.end_ns) - span_set_until(s, window.begin_ns)
               : 0;
}
