/* recording.h: all that records in this process, started, paused and stopped together: the device,
 * the Python side. Whatever happens here, the program goes on. */
#ifndef STRATA_BACKEND_RECORDING_H
#define STRATA_BACKEND_RECORDING_H

#include <stdbool.h>

/* Where the recordings go is known; nothing is written yet. */
bool recording_prepare(void);

/* An unknown backend ("none") means no device: the Python side alone. Negative when there is no GPU
 * timeline; the reason is a note then. Starting again completes what was missing. Recorded from
 * the start is a program that has not used the device yet. */
int recording_start(const char *backend, bool from_the_start);

/* Whether a device is recorded. Where none is, operators are what there is to see: all of them,
 * unless STRATA_OPS says otherwise. For a process that does not know yet when it starts. */
void recording_expect_device(bool device);

/* Between start and stop. */
void recording_pause(bool paused);

/* Between start and stop: as paused, but ranges that the program names are recorded on. */
void recording_rest(bool rest);

/* Lets another profiler in. */
void recording_stop(void);

/* flight.c: the last seconds of a program, kept all the time and written out when something happens
 * (strata run --keep 20s). The rings are bounded, so the newest records take the place of the
 * oldest. A snapshot is a copy of the process's files in RUN/snapshots/PID-N, which readers take
 * for a run of its own; recording goes on meanwhile. What the device has done by then is fetched
 * first. A crash needs none: the rings are files. */

/* Whether this process keeps (STRATA_KEEP, in milliseconds). */
bool flight_wanted(void);

/* Listens for those who ask: on the socket, and for SIGUSR2 where the program has no use for it.
 * Any number of times. */
void flight_start(void);

#endif
