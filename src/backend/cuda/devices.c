/* devices.c: see cuda_private.h. Asks the driver that is mapped already; creates no context. */
#include "backend/cuda/cuda_private.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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
    int (*get_uuid)(uint8_t ret[16], int device); /* may be NULL */
} driver;

static bool devices_find(void *h, const char *name, void *function)
{
    void *p = dlsym(h, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static bool devices_find_driver(void)
{
    void *h = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (h && !devices_find(h, "cuDeviceGetUuid_v2", &driver.get_uuid))
        (void)devices_find(h, "cuDeviceGetUuid", &driver.get_uuid);
    return h && devices_find(h, "cuDeviceGetCount", &driver.get_count) &&
           devices_find(h, "cuDeviceGetName", &driver.get_name) &&
           devices_find(h, "cuDeviceGetAttribute", &driver.get_attribute) &&
           devices_find(h, "cuDeviceTotalMem_v2", &driver.get_memory) &&
           devices_find(h, "cuDriverGetVersion", &driver.get_version);
}

static int32_t devices_ask(int device, enum attribute a)
{
    int value = 0;
    return driver.get_attribute(&value, (int)a, device) == 0 ? value : 0;
}

static void devices_do_define(int device)
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
        .major = devices_ask(device, MAJOR),
        .minor = devices_ask(device, MINOR),
        .n_sms = devices_ask(device, N_SMS),
        .warp_size = devices_ask(device, WARP_SIZE),
        .max_threads_per_sm = devices_ask(device, MAX_THREADS_PER_SM),
        .regs_per_sm = devices_ask(device, REGS_PER_SM),
        .shared_per_sm = devices_ask(device, SHARED_PER_SM),
        .shared_per_block_optin = devices_ask(device, SHARED_PER_BLOCK_OPTIN),
        .memory_bytes = (int64_t)memory,
    };
    size_t n = sizeof def.d + strlen(def.name);
    (void)defs_id(DEF_DEVICE, str_from((const char *)&def, n));
}

/* Numbers of devices are those of this process: who they are, its UUID says, as nvidia-smi does. */
static void define_uuid(int device)
{
    uint8_t u[16];
    char key[40];
    if (!driver.get_uuid || driver.get_uuid(u, device) != 0) return;
    snprintf(key, sizeof key, RING_FACT_UUID "%d", device);
    backend_fact(key, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
                 u[13], u[14], u[15]);
}

/* What the user has chosen of the machine's devices: "2,3". */
static void define_choice(void)
{
    const char *chosen = getenv("CUDA_VISIBLE_DEVICES");
    if (chosen && *chosen) backend_fact(RING_FACT_VISIBLE, "%.200s", chosen);
}

bool devices_define(void)
{
    int n = 0, version = 0;
    if (!devices_find_driver() || driver.get_count(&n) != 0) return false;
    for (int i = 0; i < n && i < MOST_DEVICES; i++) {
        devices_do_define(i);
        define_uuid(i);
    }
    define_choice();
    if (driver.get_version(&version) == 0) backend_fact("cuda_driver_version", "%d", version);
    return true;
}

void devices_wait(void)
{
    static int (*_Atomic synchronize)(void);
    int (*wait)(void) = atomic_load(&synchronize);
    if (!wait) {
        void *h = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (!h || !devices_find(h, "cuCtxSynchronize", &wait)) return;
        atomic_store(&synchronize, wait);
    }
    (void)wait();
}
