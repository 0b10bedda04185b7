/* flight.h: the last seconds of a program, kept all the time and written out when something happens
 * (strata run --keep 20s). The rings are bounded, so the newest records take the place of the
 * oldest. A snapshot is a copy of the process's files in RUN/snapshots/PID-N, which readers take
 * for a run of its own; recording goes on meanwhile. A crash needs none: the rings are files. */
#ifndef STRATA_BACKEND_FLIGHT_H
#define STRATA_BACKEND_FLIGHT_H

#include <stdbool.h>

/* Whether this process keeps (STRATA_KEEP, in milliseconds). */
bool flight_wanted(void);

/* Listens for those who ask: on the socket, and for SIGUSR2 where the program has no use for it.
 * Any number of times. */
void flight_start(void);

#endif
