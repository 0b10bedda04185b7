/* probe.c: what could be recorded of NVIDIA GPUs here, found out in a process of our own: the
 * driver may be started, but no context is made. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

struct driver {
    int (*init)(unsigned flags);
    int (*get_version)(int *ret);
    int (*get_count)(int *ret);
    int (*get_name)(char *ret, int cap, int device);
};

static bool probe_find(void *h, const char *name, void *function)
{
    void *p = dlsym(h, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static bool open_driver(struct driver *d)
{
    void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return h && probe_find(h, "cuInit", &d->init) &&
           probe_find(h, "cuDriverGetVersion", &d->get_version) &&
           probe_find(h, "cuDeviceGetCount", &d->get_count) &&
           probe_find(h, "cuDeviceGetName", &d->get_name);
}

/* The kernel module's version, as text; empty when it is not loaded. */
static void read_module_version(char *out, size_t cap)
{
    char line[256] = "";
    out[0] = 0;
    FILE *f = fopen("/proc/driver/nvidia/version", "re");
    if (!f) return;
    if (!fgets(line, sizeof line, f)) line[0] = 0;
    fclose(f);
    char *at = strstr(line, "  "); /* "NVRM version: NVIDIA UNIX ... Module  580.65.06  date" */
    if (at) snprintf(out, cap, " %.*s", (int)strcspn(at + 2, " "), at + 2);
}

/* Whether any GPU is divided into partitions (MIG), of which a program sees its own alone. */
static bool has_partitions(void)
{
    int (*init)(void), (*count)(unsigned *ret), (*handle)(unsigned i, void **ret);
    int (*mode)(void *device, unsigned *ret_now, unsigned *ret_later);
    unsigned n = 0, now = 0, later = 0;
    void *h = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *device = NULL;
    bool found = false;
    if (!h) return false;
    if (probe_find(h, "nvmlInit_v2", &init) && probe_find(h, "nvmlDeviceGetCount_v2", &count) &&
        probe_find(h, "nvmlDeviceGetHandleByIndex_v2", &handle) &&
        probe_find(h, "nvmlDeviceGetMigMode", &mode) && init() == 0 && count(&n) == 0)
        for (unsigned i = 0; i < n && !found; i++)
            found = handle(i, &device) == 0 && mode(device, &now, &later) == 0 && now == 1;
    dlclose(h);
    return found;
}

static void probe_describe(const struct driver *d, struct backend_probe *p, int n)
{
    int version = 0;
    char name[80] = "", module[40];
    d->get_version(&version);
    if (n > 0) d->get_name(name, (int)sizeof name - 1, 0);
    read_module_version(module, sizeof module);
    snprintf(p->what, sizeof p->what, "driver%s for CUDA %d.%d, %d GPU%s%s%s%s", module,
             version / 1000, version % 1000 / 10, n, n == 1 ? "" : "s", n > 0 ? ": " : "", name,
             has_partitions() ? ", in partitions (MIG): without clocks and other processes" : "");
}

void cuda_probe(struct backend_probe *p)
{
    *p = (struct backend_probe){.state = BACKEND_ABSENT};
    struct driver d;
    if (!open_driver(&d)) {
        snprintf(p->what, sizeof p->what, "no NVIDIA driver (libcuda.so.1)");
        snprintf(p->remedy, sizeof p->remedy,
                 "start a container with --gpus all; otherwise install the driver");
        return;
    }
    int n = 0, rc = d.init(0);
    if (rc == 0) rc = d.get_count(&n);
    probe_describe(&d, p, n);
    if (rc == 0 && n > 0) {
        p->state = BACKEND_READY;
        return;
    }
    p->state = BACKEND_MISSING;
    snprintf(p->missing, sizeof p->missing, "no usable GPU (the driver returned error %d)", rc);
    snprintf(p->remedy, sizeof p->remedy,
             "check that nvidia-smi lists a GPU and that CUDA_VISIBLE_DEVICES does not hide it");
}
