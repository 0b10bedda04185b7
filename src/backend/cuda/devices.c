/* devices.c: see devices.h. Asks the driver that is mapped already; creates no context. */
#include "backend/cuda/devices.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "backend/backend.h"
#include "record/defs.h"

enum { MOST_DEVICES = 64 };

/* Numbers of enum CUdevice_attribute. */
enum attribute {
    WARP_SIZE = 10,
    N_SMS = 16,
    MAX_THREADS_PER_SM = 39,
    MAJOR = 75,
    MINOR = 76,
    SHARED_PER_SM = 81,
    REGS_PER_SM = 82,
    SHARED_PER_BLOCK_OPTIN = 97,
};

static struct {
    int (*get_count)(int *ret);
    int (*get_name)(char *ret, int cap, int device);
    int (*get_attribute)(int *ret, int attribute, int device);
    int (*get_memory)(size_t *ret, int device);
    int (*get_version)(int *ret);
} driver;

static bool find(void *h, const char *name, void *function)
{
    void *p = dlsym(h, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static bool find_driver(void)
{
    void *h = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return h && find(h, "cuDeviceGetCount", &driver.get_count) &&
           find(h, "cuDeviceGetName", &driver.get_name) &&
           find(h, "cuDeviceGetAttribute", &driver.get_attribute) &&
           find(h, "cuDeviceTotalMem_v2", &driver.get_memory) &&
           find(h, "cuDriverGetVersion", &driver.get_version);
}

static int32_t ask(int device, enum attribute a)
{
    int value = 0;
    return driver.get_attribute(&value, (int)a, device) == 0 ? value : 0;
}

static void define(int device)
{
    struct {
        struct def_device d;
        char name[128];
    } def = {0};
    size_t memory = 0;
    driver.get_name(def.name, (int)sizeof def.name - 1, device);
    driver.get_memory(&memory, device);
    def.d = (struct def_device){
        .id = device,
        .major = ask(device, MAJOR),
        .minor = ask(device, MINOR),
        .n_sms = ask(device, N_SMS),
        .warp_size = ask(device, WARP_SIZE),
        .max_threads_per_sm = ask(device, MAX_THREADS_PER_SM),
        .regs_per_sm = ask(device, REGS_PER_SM),
        .shared_per_sm = ask(device, SHARED_PER_SM),
        .shared_per_block_optin = ask(device, SHARED_PER_BLOCK_OPTIN),
        .memory_bytes = (int64_t)memory,
    };
    size_t n = sizeof def.d + strlen(def.name);
    (void)defs_id(DEF_DEVICE, str_from((const char *)&def, n));
}

bool devices_define(void)
{
    int n = 0, version = 0;
    if (!find_driver() || driver.get_count(&n) != 0) return false;
    for (int i = 0; i < n && i < MOST_DEVICES; i++) define(i);
    if (driver.get_version(&version) == 0) backend_fact("cuda_driver_version", "%d", version);
    return true;
}
