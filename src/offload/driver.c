/* driver.c: see calibrate.h. */
#include "offload/calibrate.h"

#include <dlfcn.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"cuInit", offsetof(struct driver, init)},
    {"cuDeviceGet", offsetof(struct driver, device_get)},
    {"cuDeviceGetName", offsetof(struct driver, device_name)},
    {"cuDevicePrimaryCtxRetain", offsetof(struct driver, context_retain)},
    {"cuDevicePrimaryCtxRelease_v2", offsetof(struct driver, context_release)},
    {"cuCtxSetCurrent", offsetof(struct driver, context_set)},
    {"cuMemAlloc_v2", offsetof(struct driver, device_alloc)},
    {"cuMemFree_v2", offsetof(struct driver, device_free)},
    {"cuMemHostAlloc", offsetof(struct driver, host_alloc)},
    {"cuMemFreeHost", offsetof(struct driver, host_free)},
    {"cuMemcpyHtoDAsync_v2", offsetof(struct driver, copy)},
    {"cuMemcpyDtoHAsync_v2", offsetof(struct driver, copy_back)},
    {"cuStreamSynchronize", offsetof(struct driver, wait)},
};

void driver_close(struct driver *d)
{
    if (d->library) dlclose(d->library);
    d->library = NULL;
}

int driver_open(struct driver *d, const char *path, struct err *e)
{
    *d = (struct driver){.library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (!d->library)
        return FAIL(
            e, ERR_UNSUPPORTED,
            "cannot load the CUDA driver (%s), so copies to a device cannot be timed. Calibrate on "
            "the machine that will run the model, or give --pageable-gbps and "
            "--pinned-gbps",
            path ? path : "libcuda.so.1");
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(d->library, symbols[i].name);
        if (!found) {
            driver_close(d);
            return FAIL(e, ERR_UNSUPPORTED, "the CUDA driver has no %s; it may be too old",
                        symbols[i].name);
        }
        memcpy((char *)d + symbols[i].offset, &found, sizeof found);
    }
    return 0;
}
