/* enter.h: making a process recordable that was not started for it: Python 3.14 and later run a
 * script that is handed to them (sys.remote_exec), for the same user. */
#ifndef STRATA_CLI_ENTER_H
#define STRATA_CLI_ENTER_H

#include "cli/recordable.h"

/* *ret has the process when it waits to be recorded; else why it cannot be. */
int enter_process(long pid, struct arena *mem, struct recordables *ret, struct err *e) MUST_USE;

#endif
