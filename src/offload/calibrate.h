/* calibrate.h: how fast this machine copies to its device, measured: small (64 MB, about a second),
 * with warm-up, and with the spread of what was seen. */
#ifndef STRATA_OFFLOAD_CALIBRATE_H
#define STRATA_OFFLOAD_CALIBRATE_H

#include "offload/driver.h"
#include "offload/facts.h"

struct calibration {
    char device[128];
    struct facts_rate rate[HOST_KINDS];
    int64_t call_ns;  /* of a small copy and the wait for it: the median */
    int64_t alloc_ns; /* of an allocation of device memory and giving it back: the median */
    int64_t bytes;    /* of one copy */
    uint32_t rounds;
};

/* On the first device. ERR_UNSUPPORTED when the driver says no, with what it said. */
int calibrate_run(const struct driver *d, struct calibration *ret, struct err *e) MUST_USE;

#endif
