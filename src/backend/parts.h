/* parts.h: a process that waits to be recorded, and is, part by part, when a client asks for it
 * over its socket (control.h). Until then the device's library is not touched. */
#ifndef STRATA_BACKEND_PARTS_H
#define STRATA_BACKEND_PARTS_H

#include <stdbool.h>

/* Whether this process was started to wait (STRATA_LEVEL=standby). */
bool parts_wanted(void);

/* Waits from here on; what keeps it from that becomes a note. Any number of times. */
void parts_wait(void);

/* The same of a process that was entered (strata record PID): in this folder, or, where it waits
 * already, in that of before, which is then written to RUN/CONTROL_WAITS_IN. */
void parts_wait_in(const char *run);

/* For such a process the device is searched whenever recording begins. */
void parts_look_for_device(void);

/* The device's driver has come up: its work is part of what is recorded from now on. */
void parts_device(const char *backend);

/* Called on the control thread when recording has begun (1) and before it ends (0); NULL: no more.
 * When this returns the one before is not running. */
void parts_on_switch(void (*told)(int on));

#endif
