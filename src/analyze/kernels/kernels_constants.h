/* kernels_constants.h: the numbers that decide in analyze/kernels; constants.h says what a row is.
 */
#ifndef STRATA_ANALYZE_KERNELS_KERNELS_CONSTANTS_H
#define STRATA_ANALYZE_KERNELS_KERNELS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define KERNELS_CONSTANTS(X) \
    X(double, roofline_kernel_ns, 1000.0, "ns", \
      "no kernel takes less") \
    X(int, roofline_levels_up, 4, "operators", \
      "operators around a launch that are searched for shapes") \
    X(double, roofline_attention_backward_share, 0.75, "share", \
      "the gradients of fused attention run slower than its result") \
    X(double, roofline_attention_share, 0.8, "share", \
      "fused attention never gets closer to the rate of products") \
    X(double, roofline_known_share, 0.5, "share of kernel time", \
      "must be known for a figure about all") \
    X(double, roofline_half_rate_share, 0.55, "share", \
      "elementwise kernels at less than this of the memory's rate, with four elements a " \
      "thread, took eight") \
    X(int, roofline_long_ns, 30000, "ns", \
      "elementwise kernels at less than this of the memory's rate, with four elements a " \
      "thread, took eight") \
    X(double, roofline_impossible_times, 1.25, "times", \
      "bytes that were guessed, of those that fit into a kernel's time; caches help a " \
      "little") \
    X(double, roofline_tile_rows, 128.0, "rows", \
      "and columns of the tile that a block of a usual GEMM kernel computes")
/* clang-format on */

KERNELS_CONSTANTS(CONSTANT_DECLARE)

#endif
