/* graph_nodes.h: what ran when a node of a CUDA graph was made: the operator and the Python stack.
 * When the graph is launched later its kernels name their node, and nothing else is known of them.
 *
 * An executable graph consists of copies of the nodes that were captured; the copies are named by
 * the kernels. Both go to the definitions as DEF_NODES, and the reader follows them. */
#ifndef STRATA_BACKEND_GRAPH_NODES_H
#define STRATA_BACKEND_GRAPH_NODES_H

#include <stdint.h>

/* On the thread that makes it. */
void graph_nodes_created(uint64_t node);
void graph_nodes_cloned(uint64_t node, uint64_t from);

/* To the definitions. */
void graph_nodes_write(void);

/* After fork: the child has no graphs. */
void graph_nodes_forget(void);

#endif
