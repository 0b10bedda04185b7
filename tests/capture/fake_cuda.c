/* fake_cuda.c: libcuda.so.1 with a simulated GPU. cuInit honours CUDA_INJECTION64_PATH as the real
 * driver does; streams run in order; synchronising sleeps until they are done. Kernels last as many
 * microseconds as their grid is wide. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_cuda.h"

#define API __attribute__((visibility("default")))
enum { STREAMS = 64, NO_DEVICE = 100 };

static struct fake_hooks hooks;
static uint64_t busy_until[STREAMS];
static uint32_t last_correlation;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized;

API struct fake_hooks *fake_cuda_hooks(void);
struct fake_hooks *fake_cuda_hooks(void)
{
    return &hooks;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)) {}
}

/* A call: its number, its name, and what CUPTI keeps between its two ends; nobody says what that is
 * at first. */
struct call {
    uint32_t id, correlation;
    const char *name;
    uint64_t own;
};

static struct call enter(uint32_t id, const char *name)
{
    struct call c = {id, __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED), name, 1};
    if (hooks.call) hooks.call(id, name, 0, c.correlation, &c.own);
    return c;
}

static int leave(struct call *c)
{
    if (hooks.call) hooks.call(c->id, c->name, 1, c->correlation, &c->own);
    return 0;
}

static uint64_t put_work(struct fake_work w, uint64_t duration_ns)
{
    pthread_mutex_lock(&lock);
    uint64_t now = now_ns(), *end = &busy_until[w.stream % STREAMS];
    w.start_ns = *end > now ? *end : now;
    *end = w.end_ns = w.start_ns + duration_ns;
    pthread_mutex_unlock(&lock);
    if (hooks.work) hooks.work(&w);
    return w.end_ns;
}

static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || strcmp(path, "none") == 0) return;
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*entry)(void) = NULL;
    void *p = h ? dlsym(h, "InitializeInjection") : NULL;
    if (!h) fprintf(stderr, "fake driver: %s\n", dlerror());
    memcpy(&entry, &p, sizeof p);
    if (entry && entry() != 1) fprintf(stderr, "fake driver: injection failed\n");
}

API int cuInit(unsigned flags)
{
    if (getenv("FAKE_CUDA_NO_DEVICE")) return NO_DEVICE;
    if (!initialized) inject();
    initialized = 1;
    return 0;
}

API int cuDriverGetVersion(int *ret)
{
    *ret = 13000;
    return 0;
}

API int cuDeviceGetCount(int *ret)
{
    const char *n = getenv("FAKE_CUDA_DEVICES");
    *ret = n ? (int)strtol(n, NULL, 10) : 1;
    return 0;
}

API int cuDeviceGetName(char *ret, int cap, int device)
{
    snprintf(ret, (size_t)cap, "Fake GPU %d", device);
    return 0;
}

API int cuDeviceGetAttribute(int *ret, int attribute, int device)
{
    *ret = attribute == 16 ? 132 : attribute == 75 ? 9 : attribute == 10 ? 32 : 0;
    return 0;
}

/* The machine's number of a device of this process. */
static int chosen(int device)
{
    const char *all = getenv("CUDA_VISIBLE_DEVICES");
    for (int i = 0; all && i < device; i++) all = strchr(all, ',') ? strchr(all, ',') + 1 : NULL;
    return all && *all ? (int)strtol(all, NULL, 10) : device;
}

API int cuDeviceGetUuid_v2(uint8_t ret[16], int device)
{
    memset(ret, 0xab, 16);
    ret[15] = (uint8_t)chosen(device);
    return 0;
}

API int cuDeviceGetPCIBusId(char *ret, int cap, int device)
{
    snprintf(ret, (size_t)cap, "00000000:%02d:00.0", device + 7);
    return 0;
}

API int cuDeviceTotalMem_v2(size_t *ret, int device)
{
    *ret = (size_t)80 << 30;
    return 0;
}

static _Thread_local bool capturing; /* what is launched goes into a graph and does not run */
static unsigned n_captured;

/* The function is its name, the stream its number with the device above it. */
API int cuLaunchKernel(const char *function, unsigned grid, unsigned stream)
{
    struct call c = enter(307, "cuLaunchKernel");
    if (capturing) {
        if (hooks.node) hooks.node((uint64_t)6 << 32 | ++n_captured, 0);
        return leave(&c);
    }
    put_work((struct fake_work){.kind = FAKE_KERNEL,
                                .device = stream >> 16,
                                .stream = stream & 0xffff,
                                .correlation = c.correlation,
                                .bytes = grid,
                                .name = function},
             (uint64_t)grid * 1000);
    return leave(&c);
}

API int cuStreamBeginCapture_v2(unsigned stream)
{
    struct call c = enter(539, "cuStreamBeginCapture_v2");
    capturing = true;
    n_captured = 0;
    return leave(&c);
}

API int cuStreamEndCapture(unsigned stream)
{
    struct call c = enter(497, "cuStreamEndCapture");
    capturing = false;
    return leave(&c);
}

/* The executable graph consists of copies of the nodes. */
API int cuGraphInstantiateWithFlags(void)
{
    struct call c = enter(643, "cuGraphInstantiateWithFlags");
    for (unsigned i = 1; i <= n_captured && hooks.node; i++)
        hooks.node((uint64_t)7 << 32 | i, (uint64_t)6 << 32 | i);
    if (hooks.graph) hooks.graph(0);
    return leave(&c);
}

API int cuGraphLaunch(unsigned nodes, unsigned stream)
{
    static const char *const names[] = {"graph_gemm", "graph_add", "graph_norm"};
    struct call c = enter(514, "cuGraphLaunch");
    if (hooks.graph) hooks.graph(1);
    for (unsigned i = 0; i < nodes; i++)
        put_work((struct fake_work){.kind = FAKE_KERNEL,
                                    .stream = stream & 0xffff,
                                    .correlation = c.correlation,
                                    .node = (uint64_t)7 << 32 | (i + 1),
                                    .name = names[i % 3]},
                 3000);
    return leave(&c);
}

API int cuMemcpyDtoHAsync_v2(size_t bytes, unsigned stream)
{
    struct call c = enter(279, "cuMemcpyDtoHAsync_v2");
    put_work((struct fake_work){.kind = FAKE_COPY,
                                .stream = stream & 0xffff,
                                .correlation = c.correlation,
                                .bytes = bytes,
                                .copy_kind = 2,
                                .from = 3,
                                .to = 2},
             2000);
    return leave(&c);
}

API int cuMemcpyHtoD_v2(size_t bytes)
{
    struct call c = enter(276, "cuMemcpyHtoD_v2");
    sleep_until(put_work((struct fake_work){.kind = FAKE_COPY,
                                            .correlation = c.correlation,
                                            .bytes = bytes,
                                            .copy_kind = 1,
                                            .from = 1,
                                            .to = 3},
                         20000));
    return leave(&c);
}

API int cuMemsetD8Async(size_t bytes, unsigned stream)
{
    struct call c = enter(216, "cuMemsetD8Async");
    put_work((struct fake_work){.kind = FAKE_SET,
                                .stream = stream & 0xffff,
                                .correlation = c.correlation,
                                .bytes = bytes},
             1000);
    return leave(&c);
}

API int cuMemAlloc_v2(size_t bytes)
{
    struct call c = enter(243, "cuMemAlloc_v2");
    return leave(&c);
}

API int cuStreamSynchronize(unsigned stream)
{
    struct call c = enter(126, "cuStreamSynchronize");
    uint64_t start = now_ns();
    sleep_until(busy_until[stream % STREAMS]);
    if (hooks.sync) hooks.sync(c.correlation, start, now_ns());
    return leave(&c);
}

API int cuCtxSynchronize(void)
{
    struct call c = enter(800, "cuCtxSynchronize_v2");
    for (int i = 0; i < STREAMS; i++) sleep_until(busy_until[i]);
    return leave(&c);
}

API int cuCtxDestroy_v2(void *context)
{
    (void)context;
    struct call c = enter(322, "cuCtxDestroy_v2");
    if (hooks.context_gone) hooks.context_gone();
    return leave(&c);
}
