/* hlo.h: which line of a program each kernel of XLA comes from, out of the HLO that profiles of JAX
 * and TensorFlow carry. */
#ifndef STRATA_IMPORT_HLO_H
#define STRATA_IMPORT_HLO_H

#include "base/err.h"
#include "import/source_list.h"

/* `proto` is an HloModuleProto. A fusion without a line has that of its result; what is inside one
 * is not a kernel. 0 or ERR_NOMEM; what cannot be read is left out. */
int hlo_sources(struct str proto, struct source_list *out) MUST_USE;

#endif
