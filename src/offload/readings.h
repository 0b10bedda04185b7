/* readings.h: what was measured elsewhere and written down: rates by `strata offload calibrate
 * --json`, the time of a stage alone by `strata bench --json`. */
#ifndef STRATA_OFFLOAD_READINGS_H
#define STRATA_OFFLOAD_READINGS_H

#include "offload/facts.h"

/* Rates of copies, over what is not measured in `f` yet: a trace knows better what it ran at.
 * Scratch from `mem`. */
int readings_rates(const char *path, struct arena *mem, struct facts *f, struct err *e) MUST_USE;

/* What a step computes: the time of the stage until the device is done. */
int readings_bench(const char *path, struct arena *mem, struct facts *f, struct err *e) MUST_USE;

#endif
