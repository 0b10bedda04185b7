/* devices.h: the GPUs of this process, as definitions in its recording. */
#ifndef STRATA_BACKEND_DEVICES_H
#define STRATA_BACKEND_DEVICES_H

#include <stdbool.h>

/* True once they are written; false while the driver is not ready to tell. */
bool devices_define(void);

#endif
