/* headroom.h: what the wall clock would gain if kernels ran at their roof. A kernel that runs
 * beside others, or while the CPU is late anyway, can get faster without effect: so it is replayed
 * . */
#ifndef STRATA_ANALYZE_KERNELS_HEADROOM_H
#define STRATA_ANALYZE_KERNELS_HEADROOM_H

#include "analyze/kernels/kernel_stats.h"
#include "analyze/simulate/undistort.h"

/* Fills in wall_ns of the `most` rows with the largest headroom; the others keep -1, those without
 * headroom get 0. One replay for each. */
int headroom_run(struct context *cx, struct kernel_stats *k, uint32_t most, struct err *e) MUST_USE;

#endif
