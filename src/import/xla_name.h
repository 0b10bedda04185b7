/* xla_name.h: ranges that XLA (JAX, TensorFlow) marks by NVTX, taken apart.
 *
 *     "TSL: XlaModule:#hlo_module=jit_step,program_id=5#"         a compiled function being run
 *     "TSL: Thunk:#name=jit(step)/dot_general,hlo_op=fusion.3#"   one of its operations */
#ifndef STRATA_IMPORT_XLA_NAME_H
#define STRATA_IMPORT_XLA_NAME_H

#include "base/str.h"

enum xla_range { XLA_NONE, XLA_MODULE, XLA_OP };

/* What it is, and in *ret what it is called: the module; where in the program the operation comes
 * from if that is known, else its name. Points into `name`. */
enum xla_range xla_name(struct str name, struct str *ret);

#endif
