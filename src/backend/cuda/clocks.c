/* clocks.c: see clocks.h. NVML is the driver's: it is there where a GPU is, and loaded only then.
 */
#include "backend/cuda/clocks.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/processes.h"
#include "record/names.h"
#include "record/recorder.h"

#define EVERY_NS 95000000u   /* whoever calls every 100 ms is not to be a moment early */
#define LIST_NS  1000000000u /* listing processes makes the driver look at all of them */

enum { MOST_DEVICES = 64, CLOCK_SM = 1, TEMPERATURE_GPU = 0, PCI_BYTES = 32 };

/* What is looked at, each with a counter per device. */
enum reading {
    SM_CLOCK,
    SM_CLOCK_MAX,
    POWER,
    POWER_LIMIT,
    TEMPERATURE,
    LIMITS,
    OTHERS,
    N_READINGS
};

static const char *const titles[N_READINGS] = {
    [SM_CLOCK] = "SM clock (MHz)",
    [SM_CLOCK_MAX] = "highest SM clock (MHz)",
    [POWER] = "power (W)",
    [POWER_LIMIT] = "power limit (W)",
    [TEMPERATURE] = "temperature (C)",
    [LIMITS] = "clock limits",
    [OTHERS] = "other processes",
};

static struct {
    int (*init)(void);
    int (*by_pci)(const char *bus_id, void **ret);
    int (*clock)(void *device, int which, unsigned *ret);
    int (*max_clock)(void *device, int which, unsigned *ret);
    int (*power)(void *device, unsigned *ret_mw);
    int (*power_limit)(void *device, unsigned *ret_mw);
    int (*temperature)(void *device, int which, unsigned *ret);
    int (*limits)(void *device, unsigned long long *ret);
    int (*direct)(void *device, unsigned *n, struct nvml_process *ret);
    int (*mps)(void *device, unsigned *n, struct nvml_process *ret);
    int (*pci_of)(char *ret, int cap, int device); /* the driver's: devices as the program counts */
} nvml;

static struct {
    bool looked; /* for the device */
    void *device;
    uint16_t names[N_READINGS];
    int others;         /* as last listed */
    uint64_t listed_ns; /* when */
} known[MOST_DEVICES];

static enum { UNKNOWN, READY, ABSENT } state;
static atomic_bool is_paused;
static uint64_t last_ns;

void clocks_pause(bool paused)
{
    atomic_store(&is_paused, paused);
}

static bool find(void *library, const char *name, void *function)
{
    void *p = library ? dlsym(library, name) : NULL;
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static bool load(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *h = cuda ? dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!find(h, "nvmlDeviceGetCurrentClocksEventReasons", &nvml.limits))
        (void)find(h, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml.limits);
    /* Not the third version where there is a choice: some drivers made its records larger. */
    if (!find(h, "nvmlDeviceGetComputeRunningProcesses_v2", &nvml.direct))
        (void)find(h, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml.direct);
    if (!find(h, "nvmlDeviceGetMPSComputeRunningProcesses_v2", &nvml.mps))
        (void)find(h, "nvmlDeviceGetMPSComputeRunningProcesses_v3", &nvml.mps);
    (void)find(h, "nvmlDeviceGetPowerUsage", &nvml.power);
    (void)find(h, "nvmlDeviceGetEnforcedPowerLimit", &nvml.power_limit);
    (void)find(h, "nvmlDeviceGetTemperature", &nvml.temperature);
    return find(cuda, "cuDeviceGetPCIBusId", &nvml.pci_of) &&
           find(h, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_pci) &&
           find(h, "nvmlDeviceGetClockInfo", &nvml.clock) &&
           find(h, "nvmlDeviceGetMaxClockInfo", &nvml.max_clock) &&
           find(h, "nvmlInit_v2", &nvml.init) && nvml.init() == 0;
}

static void look_for(int i)
{
    char bus_id[PCI_BYTES] = "", name[64];
    known[i].looked = true;
    if (nvml.pci_of(bus_id, sizeof bus_id, i) != 0 || nvml.by_pci(bus_id, &known[i].device) != 0) {
        known[i].device = NULL;
        return;
    }
    for (int k = 0; k < N_READINGS; k++) {
        snprintf(name, sizeof name, "GPU %d %s", i, titles[k]);
        known[i].names[k] = (uint16_t)names_id(str_c(name));
    }
}

static void put(int i, enum reading which, double value)
{
    static uint16_t category;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!category) category = (uint16_t)names_id(str_c("gpu_clocks"));
    recorder_put((struct ring_record){.kind = RING_COUNTER,
                                      .name = known[i].names[which],
                                      .category = category},
                 bits);
}

/* How many processes were listed; none where that is refused. */
static uint32_t list(int (*get)(void *, unsigned *, struct nvml_process *), void *device,
                     struct nvml_process *ret)
{
    unsigned n = PROCESSES_MOST;
    return get && get(device, &n, ret) == 0 && n <= PROCESSES_MOST ? n : 0;
}

/* Once per second, and the first time at once; in between as it was. */
static int count_others(int i)
{
    static struct process_lists lists;
    if (known[i].listed_ns && last_ns - known[i].listed_ns < LIST_NS) return known[i].others;
    lists.n_direct = list(nvml.direct, known[i].device, lists.direct);
    lists.n_mps = list(nvml.mps, known[i].device, lists.mps);
    known[i].listed_ns = last_ns;
    return known[i].others = processes_others(&lists);
}

static void sample(int i)
{
    void *d = known[i].device;
    unsigned value = 0;
    unsigned long long bits = 0;
    if (nvml.clock(d, CLOCK_SM, &value) == 0) put(i, SM_CLOCK, value);
    if (nvml.max_clock(d, CLOCK_SM, &value) == 0) put(i, SM_CLOCK_MAX, value);
    if (nvml.power && nvml.power(d, &value) == 0) put(i, POWER, value / 1000.0);
    if (nvml.power_limit && nvml.power_limit(d, &value) == 0) put(i, POWER_LIMIT, value / 1000.0);
    if (nvml.temperature && nvml.temperature(d, TEMPERATURE_GPU, &value) == 0)
        put(i, TEMPERATURE, value);
    if (nvml.limits && nvml.limits(d, &bits) == 0) put(i, LIMITS, (double)bits);
    int others = count_others(i);
    if (others != PROCESSES_UNKNOWN) put(i, OTHERS, others);
}

static bool is_due(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (last_ns && now - last_ns < EVERY_NS) return false;
    last_ns = now;
    return true;
}

void clocks_load(void)
{
    if (state == UNKNOWN) state = load() ? READY : ABSENT;
}

void clocks_sample(uint64_t devices)
{
    if (!devices || atomic_load(&is_paused) || !is_due()) return;
    clocks_load();
    for (int i = 0; state == READY && i < MOST_DEVICES; i++) {
        if (!(devices >> i & 1)) continue;
        if (!known[i].looked) look_for(i);
        if (known[i].device) sample(i);
    }
}
