/* gpu_counters.h: counters of the whole GPU while a program runs. The GPU is sampled from here, not
 * from inside the program, which stays as it is. */
#ifndef STRATA_CLI_GPU_COUNTERS_H
#define STRATA_CLI_GPU_COUNTERS_H

#include "dive/pm_sampler.h"

/* Runs `command` to its end. ERR_UNSUPPORTED, with what to do, where counters cannot be read: then
 * the command was not started. */
int gpu_counters_run(char **command, struct arena *mem, struct pm_result *ret,
                     struct err *e) MUST_USE;

#endif
