/* graph_origin_private.h: between graph_origin.c, graph_origin_calls.c, graph_origin_deep.c and
 * graph_origin_places.c. */
#ifndef STRATA_ANALYZE_NAMES_GRAPH_ORIGIN_PRIVATE_H
#define STRATA_ANALYZE_NAMES_GRAPH_ORIGIN_PRIVATE_H

#include "analyze/names/graph_origin.h"

/* A new origin, all empty; NULL when out of memory. */
struct graph_origin_node *captured_add(struct context *cx, struct graph_origins *c);

/* Whether a device row names its node. */
bool captured_has_node(const struct trace *t, row_t r);

/* Which kernel of which graph one is. */
struct captured_place {
    int64_t graph, node; /* ID_NONE: not known */
};

/* By index into trace->gpu, for replayed kernels that name no node themselves. */
int graph_origin_places(struct context *cx, struct captured_place **ret) MUST_USE;

/* For the work of graphs that has no origin yet: from captures in the trace. */
int captured_from_calls(struct context *cx, struct graph_origins *c, struct err *e) MUST_USE;

/* For work that is like work of a unit in depth. */
int captured_from_deep(struct context *cx, struct graph_origins *c, struct err *e) MUST_USE;

/* Fills module and place from the stack. */
void captured_finish(struct graph_origin_node *o);

#endif
