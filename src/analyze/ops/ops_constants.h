/* ops_constants.h: the numbers that decide in analyze/ops; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_OPS_OPS_CONSTANTS_H
#define STRATA_ANALYZE_OPS_OPS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define OPS_CONSTANTS(X) \
    X(double, op_work_attention_backward_times, 2.5, "times", \
      "the gradients of attention take five products where the result takes two")
/* clang-format on */

OPS_CONSTANTS(CONSTANT_DECLARE)

#endif
