/* attention_math.h: the kernels of torch's math path of scaled_dot_product_attention, where no
 * operator shows them: it is the only one whose softmax looks for rows that are masked as a whole.
 */
#ifndef STRATA_ANALYZE_RULES_ATTENTION_MATH_H
#define STRATA_ANALYZE_RULES_ATTENTION_MATH_H

#include "analyze/context.h"

/* Rows of a stream, `end` not included. */
struct attention_rows {
    row_t begin, end;
};

bool attention_is_math(const struct trace *t, struct attention_rows a);

/* From its products on both sides: what scales and converts its operands, makes its mask and
 * converts the result. `stream` limits it. */
struct attention_rows attention_whole_math(const struct trace *t, struct attention_rows a,
                                           struct attention_rows stream);

#endif
