/* gpu_clocks.h: how fast a device ran while it worked, and what held it down: what our recorder
 * sampled through NVML (backend/cuda/clocks.h). Empty in traces without such samples. */
#ifndef STRATA_ANALYZE_DEVICE_GPU_CLOCKS_H
#define STRATA_ANALYZE_DEVICE_GPU_CLOCKS_H

#include "analyze/device/timeline.h"

enum gpu_limit {
    GPU_LIMIT_POWER, /* the power cap */
    GPU_LIMIT_HEAT,
    GPU_LIMIT_SUPPLY,  /* the power supply or the board asks for less */
    GPU_LIMIT_SETTING, /* an administrator has set the clocks */
    GPU_LIMIT_COUNT
};

/* "the power cap", "heat" ...: goes on after "because of". */
const char *gpu_limit_words(enum gpu_limit l);

struct gpu_clock {
    int32_t device;
    uint32_t n;                    /* samples while the device worked */
    uint32_t n_held;               /* of them: below the highest clock, with a reason */
    double held_mhz;               /* mean clock of those */
    double highest_mhz;            /* what it can be */
    uint32_t by[GPU_LIMIT_COUNT];  /* of n_held: the reasons; one sample may have several */
    double power_w, power_limit_w; /* mean while held; 0 when not known */
    double hottest_c;              /* 0 when not known */
};

struct gpu_clocks {
    struct gpu_clock *list; /* by device */
    uint32_t n;
};

extern const struct pass gpu_clocks_pass;

static inline const struct gpu_clocks *gpu_clocks_of(const struct context *cx)
{
    return context_kept(cx, PASS_GPU_CLOCKS);
}

/* The reason that holds most often. */
enum gpu_limit gpu_clock_reason(const struct gpu_clock *c);

#endif
