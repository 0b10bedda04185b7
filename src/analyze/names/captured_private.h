/* captured_private.h: between captured.c, captured_calls.c and captured_places.c. */
#ifndef STRATA_ANALYZE_NAMES_CAPTURED_PRIVATE_H
#define STRATA_ANALYZE_NAMES_CAPTURED_PRIVATE_H

#include "analyze/names/captured.h"

/* A new origin, all empty; NULL when out of memory. */
struct captured_origin *captured_add(struct context *cx, struct captured *c);

/* Whether a device row names its node. */
bool captured_has_node(const struct trace *t, row_t r);

/* Which kernel of which graph one is. */
struct captured_place {
    int64_t graph, node; /* ID_NONE: not known */
};

/* By index into trace->gpu, for replayed kernels that name no node themselves. */
int captured_places(struct context *cx, struct captured_place **ret) MUST_USE;

/* For the work of graphs that has no origin yet: from captures in the trace. */
int captured_from_calls(struct context *cx, struct captured *c, struct err *e) MUST_USE;

/* Fills module and place from the stack. */
void captured_finish(struct captured_origin *o);

#endif
