/* fake_nvml.c: libnvidia-ml.so.1 of a device that behaves as FAKE_NVML says: words like mhz=1395
 * max=1980 power=698000 (mW) limit=700000 temperature=71 limits=4 (bits of reasons)
 * used=5000000000; mig=1: it is divided into partitions. What is not named cannot be asked for.
 * watts=500 makes an energy counter that rises so much, in ticks of tick=100 ms. Processes on it
 * are direct=self/77/78 and mps=77, the latter clients of a server; instance=3 puts them into a
 * partition, and late=2 shows those other than the first only from the second time on that they are
 * listed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/processes.h"

#define API __attribute__((visibility("default")))
enum { NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7 };

static char the_device;

static int answer(const char *word, unsigned long long *ret)
{
    const char *all = getenv("FAKE_NVML"), *at = all ? strstr(all, word) : NULL;
    if (!at) return NOT_SUPPORTED;
    *ret = strtoull(at + strlen(word), NULL, 10);
    return 0;
}

static int small(const char *word, unsigned *ret)
{
    unsigned long long value = 0;
    int rc = answer(word, &value);
    *ret = (unsigned)value;
    return rc;
}

API int nvmlInit_v2(void)
{
    unsigned long long failure = 0;
    return answer("init=", &failure) == 0 ? (int)failure : 0;
}

API int nvmlDeviceGetCount_v2(unsigned *ret)
{
    *ret = 1;
    return 0;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **ret)
{
    *ret = &the_device;
    return i == 0 ? 0 : NOT_SUPPORTED;
}

API int nvmlDeviceGetMigMode(void *device, unsigned *ret_now, unsigned *ret_later)
{
    *ret_later = 0;
    return device == &the_device ? small("mig=", ret_now) : NOT_SUPPORTED;
}

API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **ret)
{
    if (strcmp(bus_id, "00000000:07:00.0") != 0) return NOT_SUPPORTED;
    *ret = &the_device;
    return 0;
}

API int nvmlDeviceGetClockInfo(void *device, int which, unsigned *ret)
{
    return device == &the_device && which == 1 ? small("mhz=", ret) : NOT_SUPPORTED;
}

API int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *ret)
{
    return device == &the_device && which == 1 ? small("max=", ret) : NOT_SUPPORTED;
}

API int nvmlDeviceGetPowerUsage(void *device, unsigned *ret)
{
    return device == &the_device ? small("power=", ret) : NOT_SUPPORTED;
}

API int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *ret)
{
    return device == &the_device ? small("limit=", ret) : NOT_SUPPORTED;
}

API int nvmlDeviceGetTemperature(void *device, int which, unsigned *ret)
{
    return device == &the_device && which == 0 ? small("temperature=", ret) : NOT_SUPPORTED;
}

API int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret)
{
    unsigned long long watts, tick = 1, before = 7000000; /* mJ, of other programs */
    struct timespec t;
    if (device != &the_device || answer("watts=", &watts) != 0) return NOT_SUPPORTED;
    (void)answer("tick=", &tick);
    clock_gettime(CLOCK_MONOTONIC, &t);
    unsigned long long ms =
        (unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000;
    *ret = before + ms / tick * tick * watts;
    return 0;
}

API int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
    unsigned long long used;
    if (device != &the_device || answer("used=", &used) != 0) return NOT_SUPPORTED;
    ret[0] = 80000000000u;
    ret[1] = ret[0] - used;
    ret[2] = used;
    return 0;
}

API int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret)
{
    return device == &the_device ? answer("limits=", ret) : NOT_SUPPORTED;
}

static int processes(const char *word, unsigned *n, struct nvml_process *ret)
{
    const char *all = getenv("FAKE_NVML"), *at = all ? strstr(all, word) : NULL;
    static unsigned long long n_listed;
    unsigned long long instance = UINT32_MAX, late = 0;
    unsigned found = 0;
    if (!at) return NOT_SUPPORTED;
    (void)answer("instance=", &instance);
    (void)answer("late=", &late);
    int only_first = ++n_listed < late;
    for (at += strlen(word); *at && *at != ' '; at += *at == '/') {
        int self = strncmp(at, "self", 4) == 0;
        char *end = (char *)at + 4;
        uint32_t pid = self ? (uint32_t)getpid() : (uint32_t)strtoul(at, &end, 10);
        if (end == at) break;
        if (found < *n && !(found && only_first))
            ret[found] = (struct nvml_process){.pid = pid, .gpu_instance = (uint32_t)instance};
        if (!(found && only_first)) found++;
        at = end;
    }
    int rc = found > *n ? INSUFFICIENT_SIZE : 0;
    *n = found;
    return rc;
}

API int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *n, struct nvml_process *ret)
{
    return device == &the_device ? processes("direct=", n, ret) : NOT_SUPPORTED;
}

API int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned *n,
                                                   struct nvml_process *ret)
{
    return device == &the_device ? processes("mps=", n, ret) : NOT_SUPPORTED;
}
