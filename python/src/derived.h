/* derived.h: ranges that nobody wrote: calls of modules, generate, backward, and the pauses of
 * Python's garbage collector. Recorded only while somebody has asked for them; forked children
 * follow the process that asked. */
#ifndef STRATA_PYTHON_DERIVED_H
#define STRATA_PYTHON_DERIVED_H

#include "core.h"

extern PyMethodDef derived_methods[];

#endif
