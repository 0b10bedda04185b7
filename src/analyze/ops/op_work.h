/* op_work.h: the work one call of an operator means, from its recorded shapes and types:
 * operations, bytes read and written, the shape of a matrix multiplication. Bytes are the fewest
 * possible: each input read once, the result written once. */
#ifndef STRATA_ANALYZE_OPS_OP_WORK_H
#define STRATA_ANALYZE_OPS_OP_WORK_H

#include "analyze/names/number_type.h"
#include "base/str.h"
#include "trace/trace.h"

/* op_class.c: what kind of work an operator does, from its name. */

enum op_class {
    OP_OTHER,
    OP_PRODUCT, /* of matrices */
    OP_CONVOLUTION,
    OP_ATTENTION, /* fused: one operator for both products and the softmax */
    OP_POINTWISE, /* each element of the result from those at the same place */
    OP_REDUCTION,
    OP_SOFTMAX,
    OP_NORM,
    OP_COPY, /* also casts and changes of layout */
    OP_FILL,
    OP_CAT,
    OP_COMPILED, /* a kernel made by a compiler: its arguments are all it reads and writes */
};

struct op_kind {
    enum op_class class;
    int arity;        /* tensors it reads; what comes after them is where it writes. 0: not known */
    int instructions; /* for an element, roughly; pointwise ones only */
    bool in_place;
    bool to_bool;  /* the result is a mask */
    bool backward; /* computes gradients */
    bool lists;    /* works on lists of tensors: _foreach_ */
};

struct op_kind op_kind_of(struct str name);

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

/* Of an operator that is not in a trace, with what it was called with as JSON. */
void op_work_named(struct str name, const struct str inputs[3], struct op_work *ret);

/* False when shapes were not recorded. */
bool op_work_of(const struct trace *t, row_t op, struct op_work *ret);

#endif
