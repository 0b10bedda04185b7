/* ring_args.h: the recordings a trace was made from, kept open to answer what its rows' args are.
 */
#ifndef STRATA_IMPORT_RING_ARGS_H
#define STRATA_IMPORT_RING_ARGS_H

#include "import/ring_set.h"

/* The set as the trace's source of args, which frees it. */
struct args_source *ring_args_make(struct ring_set *s);

#endif
