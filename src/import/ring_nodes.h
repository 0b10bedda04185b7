/* ring_nodes.h: from the nodes of CUDA graphs that a process defined to the meta that says what ran
 * when they were captured (TRACE_META_CAPTURED). */
#ifndef STRATA_IMPORT_RING_NODES_H
#define STRATA_IMPORT_RING_NODES_H

#include "import/ring_process.h"

/* Adds the meta to the trace; nothing where the process has captured nothing. */
int ring_nodes_add(struct builder *b, const struct ring_process *p, struct err *e) MUST_USE;

#endif
