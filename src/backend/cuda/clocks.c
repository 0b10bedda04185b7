/* clocks.c: see cuda_private.h. NVML is the driver's: it is there where a GPU is, and loaded only
 * then.
 */
#include "backend/cuda/cuda_private.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/processes.h"
#include "record/names.h"
#include "record/recorder.h"

#define EVERY_NS 95000000u   /* a caller with a period of 100 ms must not be refused for jitter */
#define LIST_NS  1000000000u /* listing processes makes the driver look at all of them */
/* Reading the energy counter takes the driver 2.6 ms on an H200, and up to 17. */
#define ENERGY_NS 450000000u

enum { MOST_DEVICES = 64, CLOCK_SM = 1, TEMPERATURE_GPU = 0, PCI_BYTES = 32 };

/* What is examined, each with a counter per device. */
enum reading {
    SM_CLOCK,
    SM_CLOCK_MAX,
    POWER,
    POWER_LIMIT,
    TEMPERATURE,
    LIMITS,
    ENERGY,
    MEMORY,
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
    [ENERGY] = "energy (J)",
    [MEMORY] = "memory in use (MB)",
    [OTHERS] = "other processes",
};

/* nvmlMemory_t. */
struct nvml_memory {
    unsigned long long total, free, used;
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
    int (*energy)(void *device, unsigned long long *ret_mj);
    int (*memory)(void *device, struct nvml_memory *ret);
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
    uint64_t energy_ns; /* when that was read */
} known[MOST_DEVICES];

static enum { UNKNOWN, READY, ABSENT } state;
static atomic_bool is_paused;
static uint64_t last_ns;

void clocks_pause(bool paused)
{
    atomic_store(&is_paused, paused);
}

static bool clocks_find(void *library, const char *name, void *function)
{
    void *p = library ? dlsym(library, name) : NULL;
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static bool clocks_do_load(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *h = cuda ? dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!clocks_find(h, "nvmlDeviceGetCurrentClocksEventReasons", &nvml.limits))
        (void)clocks_find(h, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml.limits);
    /* Not the third version where there is a choice: some drivers made its records larger. */
    if (!clocks_find(h, "nvmlDeviceGetComputeRunningProcesses_v2", &nvml.direct))
        (void)clocks_find(h, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml.direct);
    if (!clocks_find(h, "nvmlDeviceGetMPSComputeRunningProcesses_v2", &nvml.mps))
        (void)clocks_find(h, "nvmlDeviceGetMPSComputeRunningProcesses_v3", &nvml.mps);
    (void)clocks_find(h, "nvmlDeviceGetPowerUsage", &nvml.power);
    (void)clocks_find(h, "nvmlDeviceGetEnforcedPowerLimit", &nvml.power_limit);
    (void)clocks_find(h, "nvmlDeviceGetTemperature", &nvml.temperature);
    (void)clocks_find(h, "nvmlDeviceGetTotalEnergyConsumption", &nvml.energy);
    (void)clocks_find(h, "nvmlDeviceGetMemoryInfo", &nvml.memory);
    return clocks_find(cuda, "cuDeviceGetPCIBusId", &nvml.pci_of) &&
           clocks_find(h, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_pci) &&
           clocks_find(h, "nvmlDeviceGetClockInfo", &nvml.clock) &&
           clocks_find(h, "nvmlDeviceGetMaxClockInfo", &nvml.max_clock) &&
           clocks_find(h, "nvmlInit_v2", &nvml.init) && nvml.init() == 0;
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

static void clocks_put(int i, enum reading which, double value)
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
static uint32_t clocks_list(int (*get)(void *, unsigned *, struct nvml_process *), void *device,
                            struct nvml_process *ret)
{
    unsigned n = PROCESSES_MOST;
    return get && get(device, &n, ret) == 0 && n <= PROCESSES_MOST ? n : 0;
}

/* Of all processes, with what the driver keeps for itself. */
static void clocks_sample_memory(int i)
{
    struct nvml_memory all = {0};
    if (nvml.memory && nvml.memory(known[i].device, &all) == 0)
        clocks_put(i, MEMORY, (double)all.used / 1e6);
}

/* Once per second, and the first time at once; in between as it was. */
static int count_others(int i)
{
    static struct process_lists lists;
    if (known[i].listed_ns && last_ns - known[i].listed_ns < LIST_NS) return known[i].others;
    clocks_sample_memory(i);
    lists.n_direct = clocks_list(nvml.direct, known[i].device, lists.direct);
    lists.n_mps = clocks_list(nvml.mps, known[i].device, lists.mps);
    known[i].listed_ns = last_ns;
    return known[i].others = processes_others(&lists);
}

static void clocks_sample_energy(int i)
{
    unsigned long long mj = 0;
    if (!nvml.energy || (known[i].energy_ns && last_ns - known[i].energy_ns < ENERGY_NS)) return;
    known[i].energy_ns = last_ns;
    if (nvml.energy(known[i].device, &mj) == 0) clocks_put(i, ENERGY, (double)mj / 1000.0);
}

static void clocks_do_sample(int i)
{
    void *d = known[i].device;
    unsigned value = 0;
    unsigned long long bits = 0;
    if (nvml.clock(d, CLOCK_SM, &value) == 0) clocks_put(i, SM_CLOCK, value);
    if (nvml.max_clock(d, CLOCK_SM, &value) == 0) clocks_put(i, SM_CLOCK_MAX, value);
    if (nvml.power && nvml.power(d, &value) == 0) clocks_put(i, POWER, value / 1000.0);
    if (nvml.power_limit && nvml.power_limit(d, &value) == 0)
        clocks_put(i, POWER_LIMIT, value / 1000.0);
    if (nvml.temperature && nvml.temperature(d, TEMPERATURE_GPU, &value) == 0)
        clocks_put(i, TEMPERATURE, value);
    if (nvml.limits && nvml.limits(d, &bits) == 0) clocks_put(i, LIMITS, (double)bits);
    clocks_sample_energy(i);
    int others = count_others(i);
    if (others != PROCESSES_UNKNOWN) clocks_put(i, OTHERS, others);
}

static bool clocks_is_due(void)
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
    if (state == UNKNOWN) state = clocks_do_load() ? READY : ABSENT;
}

void clocks_sample(uint64_t devices)
{
    if (!devices || atomic_load(&is_paused) || !clocks_is_due()) return;
    clocks_load();
    for (int i = 0; state == READY && i < MOST_DEVICES; i++) {
        if (!(devices >> i & 1)) continue;
        if (!known[i].looked) look_for(i);
        if (known[i].device) clocks_do_sample(i);
    }
}
