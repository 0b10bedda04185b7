/* gpu_samples.h: the counters that our recorder samples of a device through NVML
 * (backend/cuda/clocks.h), as they are named and valued in a trace. */
#ifndef STRATA_ANALYZE_DEVICE_GPU_SAMPLES_H
#define STRATA_ANALYZE_DEVICE_GPU_SAMPLES_H

#include "analyze/context.h"

/* "GPU 3 power (W)": the device, and the rest of the name; false for other names. */
bool gpu_sample_name(struct str name, int32_t *ret_device, struct str *ret_title);

/* What the counter of row `r` was; -1 where it has no number. ERR_NOMEM is the only failure. */
int gpu_sample_value(const struct context *cx, row_t r, double *ret, struct err *e) MUST_USE;

#endif
