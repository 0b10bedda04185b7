/* occupancy.h: how many of an SM's threads a kernel can keep in flight, and what stops it.
 *
 * Recorders write an estimate, but not for kernels launched with extended attributes (0 for every
 * cuBLAS and cuDNN kernel on Hopper), so it is worked out here from the launch and the device:
 * blocks an SM has room for, or the grid's share of blocks when that is less. */
#ifndef STRATA_ANALYZE_KERNELS_OCCUPANCY_H
#define STRATA_ANALYZE_KERNELS_OCCUPANCY_H

#include "trace/trace.h"

enum occupancy_limit {
    LIMIT_GRID, /* fewer blocks than the device has room for */
    LIMIT_THREADS,
    LIMIT_REGISTERS,
    LIMIT_SHARED,
    LIMIT_BLOCKS
};

struct occupancy {
    double pct;             /* of the SM's threads, with the grid as launched */
    double theoretical_pct; /* with enough blocks */
    int blocks_per_sm;      /* room for */
    enum occupancy_limit limit;
};

/* False when the launch or the device is not known well enough. */
bool occupancy_of(const struct device *d, const struct gpu_info *g, struct occupancy *ret);

const char *occupancy_limit_name(enum occupancy_limit l); /* "grid", "registers" ... */

/* The device with this number, or NULL. */
const struct device *occupancy_device(const struct trace *t, int32_t id);

#endif
