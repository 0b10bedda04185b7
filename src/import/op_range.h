/* op_range.h: ranges that torch writes around its operators for other profilers (emit_nvtx, nsys
 * --pytorch, rocTX):
 *
 *     aten::mm, seq = 5, op_id = 314307, sizes = [[8, 16], [16, 4]]
 *
 * They are operators with shapes, not stages that a person named. */
#ifndef STRATA_IMPORT_OP_RANGE_H
#define STRATA_IMPORT_OP_RANGE_H

#include "base/str.h"
#include "trace/batch.h"

/* Fills kind (KIND_OP or KIND_ANNOTATION), name and `op` of a range whose text is `text`. ERR_NOMEM
 * is the only failure. */
int op_range_fill(struct batch *p, struct str text, struct batch_row *row,
                  struct op_info *op) MUST_USE;

/* Ranges that XLA (JAX, TensorFlow) marks by NVTX, taken apart.
 *
 *     "TSL: XlaModule:#hlo_module=jit_step,program_id=5#"         a compiled function being run
 *     "TSL: Thunk:#name=jit(step)/dot_general,hlo_op=fusion.3#"   one of its operations */

enum xla_range { XLA_NONE, XLA_MODULE, XLA_OP };

/* What it is, and in *ret what it is called: the module; where in the program the operation comes
 * from if that is known, else its name. Points into `name`. */
enum xla_range xla_name(struct str name, struct str *ret);

#endif
