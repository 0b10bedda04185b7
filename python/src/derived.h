/* derived.h: ranges without a label of the user: module calls, generate, backward, and the Python
 * GC pauses. Recorded only on request; forked children follow the process that asked. */
#ifndef STRATA_PYTHON_DERIVED_H
#define STRATA_PYTHON_DERIVED_H

#include "core.h"

extern PyMethodDef derived_methods[];

#endif
