/* clocks.h: how fast the devices run while they are recorded, and what holds them down: clocks,
 * power, temperature and the driver's reasons, through NVML. Counters on the ring of the calling
 * thread:
 *
 *     GPU 0 SM clock (MHz)   GPU 0 power (W)   GPU 0 temperature (C)   GPU 0 clock limits
 *
 * the last one as NVML's bits (nvmlClocksEventReasons). The facts gpu0_max_sm_mhz and
 * gpu0_power_limit_w say what they can be at most. */
#ifndef STRATA_BACKEND_CLOCKS_H
#define STRATA_BACKEND_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Loads NVML, which takes some milliseconds: once, before there is anything to record. */
void clocks_load(void);

/* Looks at the devices of the mask, ten times per second at most. Without NVML it does nothing. */
void clocks_sample(uint64_t devices);

/* While paused clocks_sample does nothing. */
void clocks_pause(bool paused);

#endif
