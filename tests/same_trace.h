/* same_trace.h: whether two traces are the same, down to the ids of their strings. */
#ifndef STRATA_TESTS_SAME_TRACE_H
#define STRATA_TESTS_SAME_TRACE_H

#include <string.h>

#include "trace/column.h"

/* memcmp may not be given NULL, not even for nothing. */
static inline bool same_bytes(const void *a, const void *b, size_t n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

/* NULL when they are, else the name of what differs. */
static inline const char *same_trace(struct trace *a, struct trace *b)
{
    for (int i = 0; i < trace_n_columns; i++) {
        const struct trace_column *c = &trace_columns[i];
        uint32_t n = *column_n(c, a);
        if (n != *column_n(c, b)) return c->name;
        if (!same_bytes(*column_items(c, a), *column_items(c, b), (size_t)n * c->item_bytes))
            return c->name;
    }
    if (a->strings.n != b->strings.n) return "number of strings";
    for (uint32_t i = 0; i < a->strings.n; i++)
        if (!str_eq(trace_str(a, i), trace_str(b, i))) return "strings";
    if (a->n_lanes != b->n_lanes || !same_bytes(a->lanes, b->lanes, a->n_lanes * sizeof *a->lanes))
        return "lanes";
    if (a->n_metas != b->n_metas || !same_bytes(a->metas, b->metas, a->n_metas * sizeof *a->metas))
        return "metas";
    if (memcmp(&a->damage, &b->damage, sizeof a->damage)) return "damage";
    if (a->base_ns != b->base_ns || a->begin_ns != b->begin_ns || a->end_ns != b->end_ns)
        return "times";
    return NULL;
}

#endif
