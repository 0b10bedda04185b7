/* fused_ops.h: what a kernel of a compiler computes, in words.
 *
 *   triton_red_fused__to_copy_add_mul_native_layer_norm_split_0  ->  layer_norm + add + mul + cast
 *
 * Inductor names its kernels after the operators that it fused, ten at most, sorted and joined with
 * the sign that is in their names as well: known ones are recognized, whatever lies between them
 * counts word by word. Where the code of a kernel was recorded the operators come as a list, in the
 * order they run. Views, which compute nothing, are left out unless there is nothing else. */
#ifndef STRATA_ANALYZE_NAMES_FUSED_OPS_H
#define STRATA_ANALYZE_NAMES_FUSED_OPS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends the operators of a kernel of Inductor; false, and nothing, for other names. */
bool fused_ops_of_name(struct str kernel, struct buf *out);

/* The same and what tells it from others: "layer_norm + cast (triton_red_0)". */
bool fused_ops_short(struct str kernel, struct buf *out);

/* "aten.native_layer_norm, aten.mul, aten._to_copy" in words; false for other texts. */
bool fused_ops_of_list(struct str list, struct buf *out);

#endif
