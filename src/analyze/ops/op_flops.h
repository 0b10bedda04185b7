/* op_flops.h: floating-point operations of an operator, from its recorded shapes, by torch's own
 * formulas: what `with_flops` would have shown. Other operators count nothing. */
#ifndef STRATA_ANALYZE_OP_FLOPS_H
#define STRATA_ANALYZE_OP_FLOPS_H

#include "trace/trace.h"

enum op_flops_kind {
    FLOPS_NONE,
    FLOPS_MM,    /* a(0) x b(1) */
    FLOPS_ADDMM, /* c(0) + a(1) x b(2) */
    FLOPS_BMM,   /* the same in batches */
    FLOPS_BADDBMM,
    FLOPS_CONV2D,
    FLOPS_POINTWISE, /* one operation an element of the first input */
};

enum op_flops_kind op_flops_kind(struct str op_name);

/* 0 when shapes were not recorded or do not fit the operator. */
uint64_t op_flops(const struct trace *t, row_t r, enum op_flops_kind kind);

#endif
