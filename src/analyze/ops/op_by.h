/* op_by.h: what rows of the operator table are split by, and how the table is requested. */
#ifndef STRATA_ANALYZE_OPS_OP_BY_H
#define STRATA_ANALYZE_OPS_OP_BY_H

#include <stdbool.h>

enum op_by { OP_BY_NAME, OP_BY_SHAPE, OP_BY_STACK, OP_BY_MODULE };

#define OP_STACK_MAX 64

struct op_table_opts {
    enum op_by by;
    int stack_depth; /* frames that tell rows apart with OP_BY_STACK; 1 .. OP_STACK_MAX */
    bool python;     /* Python frames are rows too, and nest, as in torch 2.12 and 2.13 */
    int n_threads;
};

#endif
