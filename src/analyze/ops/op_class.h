/* op_class.h: what kind of work an operator does, from its name. */
#ifndef STRATA_ANALYZE_OPS_OP_CLASS_H
#define STRATA_ANALYZE_OPS_OP_CLASS_H

#include "base/str.h"

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

#endif
