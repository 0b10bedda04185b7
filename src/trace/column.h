/* column.h: the one list of the columns and side tables of a trace. Code that must treat them
 * all alike (free, write, map, compare) walks this list instead of naming them again. */
#ifndef STRATA_TRACE_COLUMN_H
#define STRATA_TRACE_COLUMN_H

#include "trace/trace.h"

struct trace_column {
    const char *name;
    uint32_t section; /* enum strata_section_id */
    uint32_t item_bytes;
    uint32_t items_at, n_at; /* where struct trace keeps the array and its length */
};

extern const struct trace_column trace_columns[];
extern const int trace_n_columns;

static inline void **column_items(const struct trace_column *c, struct trace *t)
{
    return (void **)((char *)t + c->items_at);
}

static inline uint32_t *column_n(const struct trace_column *c, struct trace *t)
{
    return (uint32_t *)((char *)t + c->n_at);
}

#endif
