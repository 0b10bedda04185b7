/* ring_native.h: native frames of recorded stacks, named.
 *
 * A recording has addresses in files. Here they get function, file and line, in the definitions of
 * their process: a DEF_ADDRESS becomes a DEF_CODE "FILE(LINE): FUNCTION" as Python's functions
 * have, its frames get the line of their call, and frames that say nothing to a reader (the CUDA
 * runtime linked into a program, what stands before main) step aside for their callers. */
#ifndef STRATA_IMPORT_RING_NATIVE_H
#define STRATA_IMPORT_RING_NATIVE_H

#include "import/ring_process.h"

/* Memory from `mem`, which must live as long as the definitions. */
int ring_native_resolve(struct ring_process *p, struct arena *mem) MUST_USE;

#endif
