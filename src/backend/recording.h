/* recording.h: all that records in this process, started, paused and stopped together: the device,
 * the Python side. Whatever happens here, the program goes on. */
#ifndef STRATA_BACKEND_RECORDING_H
#define STRATA_BACKEND_RECORDING_H

#include <stdbool.h>

/* Where the recordings go is known; nothing is written yet. */
bool recording_prepare(void);

/* A backend nobody knows ("none") is none: the Python side alone. Negative when there is no GPU
 * timeline; the reason is a note then. Starting again completes what was missing. Recorded from
 * the start is a program that has not used the device yet. */
int recording_start(const char *backend, bool from_the_start);

/* Whether a device is recorded. Where none is, operators are what there is to see: all of them,
 * unless STRATA_OPS says otherwise. For a process that does not know yet when it starts. */
void recording_expect_device(bool device);

/* Between start and stop. */
void recording_pause(bool paused);

/* Lets another profiler in. */
void recording_stop(void);

#endif
