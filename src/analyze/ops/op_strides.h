/* op_strides.h: how the inputs of an operator lie in memory. Strides are not kept in the trace:
 * they are read from the file on request, so ask for few operators. */
#ifndef STRATA_ANALYZE_OPS_OP_STRIDES_H
#define STRATA_ANALYZE_OPS_OP_STRIDES_H

#include "trace/trace.h"

/* Whether some input of a copy repeats its elements (a stride of 0 over more than one); true as
 * well when the strides cannot be read. */
bool op_is_expanded(const struct trace *t, row_t op);

/* Whether the mask of a scaled_dot_product_attention is the same for all queries: it hides padding,
 * if anything. False where that cannot be read. */
bool op_masks_padding(const struct trace *t, row_t op);

enum op_alignment { ALIGNMENT_UNKNOWN, ALIGNED, MISALIGNED };

/* Whether the rows of the matrices that go in begin at multiples of `unit` elements. */
enum op_alignment op_alignment(const struct trace *t, row_t op, int64_t unit);

#endif
