/* op_work.h: the work one call of an operator means, from its recorded shapes and types:
 * operations, bytes read and written, the shape of a matrix multiplication. Bytes are the fewest
 * possible: each input read once, the result written once. */
#ifndef STRATA_ANALYZE_OPS_OP_WORK_H
#define STRATA_ANALYZE_OPS_OP_WORK_H

#include "analyze/names/number_type.h"
#include "analyze/ops/op_class.h"
#include "trace/trace.h"

struct op_work {
    struct op_kind kind;
    enum number_type type;  /* of its first tensor of numbers; of copies, what is written */
    enum number_type from;  /* of copies: what is read */
    double flops;           /* 0 when it multiplies nothing, or the shapes do not say */
    double read, written;   /* bytes; both 0 when not known */
    double untyped;         /* elements whose type was not recorded: of lists, both ways */
    double elements;        /* of the result, or of the largest tensor where that is not known */
    double batch, m, n, k;  /* of products */
    double largest_in_list; /* elements of the largest tensor of a list, of all: untyped / 2 */
    bool causal;            /* attention: half of the operations are not needed; left out already */
    bool masked;            /* attention with a mask given as a tensor */
    bool loose;             /* an operator without a formula: bytes are a guess */
};

/* False when shapes were not recorded. */
bool op_work_of(const struct trace *t, row_t op, struct op_work *ret);

#endif
