/* calibrate.h: how fast this machine copies to its device and back, measured: small (copies of
 * 64 MB, about a second), with warm-up, and with the spread of what was seen. Pageable copies take
 * their bytes from a pool too large for the CPU's caches, as weights are. */
#ifndef STRATA_OFFLOAD_CALIBRATE_H
#define STRATA_OFFLOAD_CALIBRATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "offload/facts.h"

/* driver.c: the few calls of the CUDA driver that copying needs, found at run time: strata links to
 * no GPU library. A test brings functions of its own. */

typedef uint64_t driver_ptr; /* device memory */

/* All return 0, or a CUresult. */
struct driver {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int len, int device);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_set)(void *context);
    int (*device_alloc)(driver_ptr *p, size_t n);
    int (*device_free)(driver_ptr p);
    int (*host_alloc)(void **p, size_t n, unsigned flags); /* pinned */
    int (*host_free)(void *p);
    int (*copy)(driver_ptr to, const void *from, size_t n, void *stream);
    int (*copy_back)(void *to, driver_ptr from, size_t n, void *stream);
    int (*wait)(void *stream);
    void *library;
};

/* `path` names the library; NULL: the installed one. ERR_UNSUPPORTED when there is none. */
int driver_open(struct driver *d, const char *path, struct err *e) MUST_USE;
void driver_close(struct driver *d);

struct calibration {
    char device[128];
    struct facts_rate rate[HOST_KINDS];
    struct facts_rate back;    /* to pageable memory */
    double touch_bytes_per_ns; /* writing to host memory that is new to the program */
    int64_t call_ns;           /* of a small copy and the wait for it: the median */
    int64_t alloc_ns; /* of an allocation of device memory and giving it back: the median */
    int64_t bytes;    /* of one copy */
    uint32_t rounds;
};

/* The pool of host memory to copy from where there is nothing against it. */
#define CALIBRATE_POOL_BYTES ((size_t)512000000)

/* On the first device. `pool_bytes` is the size of the pool, at least that of one copy.
 * ERR_UNSUPPORTED when the driver says no, with what it said. */
int calibrate_run(const struct driver *d, size_t pool_bytes, struct calibration *ret,
                  struct err *e) MUST_USE;

#endif
