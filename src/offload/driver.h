/* driver.h: the few calls of the CUDA driver that copying needs, found at run time: strata links to
 * no GPU library. A test brings functions of its own. */
#ifndef STRATA_OFFLOAD_DRIVER_H
#define STRATA_OFFLOAD_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

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

#endif
