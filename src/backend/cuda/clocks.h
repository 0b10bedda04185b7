/* clocks.h: how fast the devices run while they are recorded, and what holds them down: clocks,
 * power, temperature and the driver's reasons, through NVML; and who else works on them. Counters
 * on the ring of the calling thread:
 *
 *     GPU 0 SM clock (MHz)   GPU 0 power (W)   GPU 0 temperature (C)   GPU 0 clock limits
 *     GPU 0 other processes
 *
 * The limits are NVML's bits (nvmlClocksEventReasons). Processes are listed once per second
 * (processes.h); without the last counter it is not known whether there are others. */
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
