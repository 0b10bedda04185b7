/* host_stall.c: see host_stall.h. */
#include "backend/program/host_stall.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/program/watched.h"
#include "base/clock.h"
#include "base/mem.h"
#include "record/names.h"
#include "record/recorder.h"

enum {
    LONG_NS = 500000,     /* between two calls: shorter than that needs no reason */
    LEAST_NS = 200000,    /* lost in a stall that is worth a record ... */
    LEAST_PART = 5,       /* ... and one part in so many of it */
    FRESH_NS = 1000000,   /* how old the counts of a stall's begin may be */
    DELAY_NS = 20000000,  /* the same for the run delay, which is a file */
    DISK_NS = 2000000,    /* the most that one page from a disk is taken to cost: a thread that also
                             waits for something else is not to be taken for one that reads */
    CALIBRATE_PAGES = 16, /* page faults are measured in so many batches of so many */
    CALIBRATE_TIMES = 4,
    FILE_BYTES = 4096,
};

enum stall { STALL_CORE, STALL_CGROUP, STALL_FAULTS, STALL_GIL, N_STALLS };

static const char *const titles[N_STALLS] = {
    [STALL_CORE] = RING_HOST_CORE,
    [STALL_CGROUP] = RING_HOST_CGROUP,
    [STALL_FAULTS] = RING_HOST_FAULTS,
    [STALL_GIL] = RING_HOST_GIL,
};

__thread struct host_stall *host_stall_me __attribute__((tls_model("initial-exec")));
uint64_t host_stall_long = UINT64_MAX;

static double ns_per_tick;
static uint64_t fresh_ticks, delay_ticks;
static _Atomic uint64_t since; /* ticks: recorded without a pause from here on */
static uint64_t fault_ns;      /* of one page fault, as measured here */
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct {
    uintptr_t begin, end; /* Python's runtime, which its lock is a part of */
} runtime;

static struct {
    pthread_mutex_t lock;
    char path[256];
    uint64_t throttled_ns, newly_ns; /* in total; since the chore before the last */
} cgroup = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The begin of a file, as text; false when it cannot be read. */
static bool host_stall_read_file(const char *path, char *text, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, cap - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

static uint64_t host_stall_run_delay(void)
{
    char text[128], *end;
    if (!host_stall_read_file("/proc/thread-self/schedstat", text, sizeof text)) return 0;
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10);
}

/* ---- the cgroup */

static uint64_t host_stall_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Nanoseconds so far, all its cores together. */
static uint64_t host_stall_throttled(void)
{
    char text[FILE_BYTES];
    if (!cgroup.path[0] || !host_stall_read_file(cgroup.path, text, sizeof text)) return 0;
    return host_stall_after(text, "throttled_time ") +
           host_stall_after(text, "throttled_usec ") * 1000;
}

static bool host_stall_try_cgroup(const char *root, const char *path)
{
    char text[FILE_BYTES];
    int n = snprintf(cgroup.path, sizeof cgroup.path, "%s%s/cpu.stat", root,
                     strcmp(path, "/") == 0 ? "" : path);
    bool fits = n > 0 && (size_t)n < sizeof cgroup.path;
    if (fits && host_stall_read_file(cgroup.path, text, sizeof text) &&
        strstr(text, "nr_throttled"))
        return true;
    cgroup.path[0] = 0;
    return false;
}

/* Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:PATH; version 2 has no controllers. Inside a
 * container the path may be the host's, while the folder is that of the container. */
static void host_stall_find_cgroup(void)
{
    char text[FILE_BYTES], *line, *rest = text;
    if (!host_stall_read_file("/proc/self/cgroup", text, sizeof text)) return;
    while ((line = strsep(&rest, "\n"))) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL, root[128];
        if (!path) continue;
        *path++ = 0;
        list++;
        bool v1 = strcmp(list, "cpu") == 0 || strcmp(list, "cpu,cpuacct") == 0;
        if (!v1 && *list) continue;
        snprintf(root, sizeof root, "/sys/fs/cgroup%s%s", v1 ? "/" : "", list);
        if (host_stall_try_cgroup(root, path) || host_stall_try_cgroup(root, "/")) return;
    }
}

void host_stall_chore(void)
{
    pthread_mutex_lock(&cgroup.lock);
    uint64_t now = host_stall_throttled();
    cgroup.newly_ns = now - cgroup.throttled_ns;
    cgroup.throttled_ns = now;
    pthread_mutex_unlock(&cgroup.lock);
}

/* What was throttled before the recording says nothing about it. */
static void host_stall_begin_cgroup(void)
{
    pthread_mutex_lock(&cgroup.lock);
    cgroup.throttled_ns = host_stall_throttled();
    cgroup.newly_ns = 0;
    pthread_mutex_unlock(&cgroup.lock);
}

/* Whether most of a delay that ends now was the cgroup's. */
static bool host_stall_is_throttled(uint64_t delay_ns)
{
    pthread_mutex_lock(&cgroup.lock);
    uint64_t ns = host_stall_throttled() - cgroup.throttled_ns + cgroup.newly_ns;
    pthread_mutex_unlock(&cgroup.lock);
    return ns >= delay_ns / 2 && ns > 0;
}

/* ---- Python's lock */

static void host_stall_find_runtime(void)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *at = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (!at || !dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) return;
    runtime.end = (uintptr_t)at + symbol->st_size;
    runtime.begin = (uintptr_t)at;
}

/* The lock is a mutex and a condition inside Python's runtime, in every version that has one: a
 * thread that sleeps on a futex there waits for it. */
bool host_stall_waits_for_gil(int tid)
{
    char path[64], text[256], *end;
    if (!runtime.begin) host_stall_find_runtime();
    if (!runtime.begin) return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    if (!host_stall_read_file(path, text, sizeof text)) return false;
    if (strtol(text, &end, 10) != SYS_futex || end == text) return false;
    uintptr_t address = (uintptr_t)strtoull(end, NULL, 16);
    return address >= runtime.begin && address < runtime.end;
}

static uint64_t host_stall_gil_ns(void)
{
    return watched_me ? atomic_load_explicit(&watched_me->gil_ns, memory_order_relaxed) : 0;
}

/* ---- counts of the calling thread */

static uint64_t host_stall_ns(uint64_t ticks)
{
    return (uint64_t)((double)ticks * ns_per_tick);
}

static void host_stall_count(struct host_stall *h, uint64_t now)
{
    struct rusage u;
    if (getrusage(RUSAGE_THREAD, &u) != 0) return;
    h->cpu_ns = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
                (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
    h->minor = u.ru_minflt;
    h->major = u.ru_majflt;
    h->read_at = now;
    h->due = now + fresh_ticks;
}

void host_stall_refresh(struct host_stall *h, uint64_t now)
{
    host_stall_count(h, now);
    h->gil_ns = host_stall_gil_ns();
    if (now - h->delay_at < delay_ticks) return;
    h->delay_ns = host_stall_run_delay();
    h->delay_at = now;
}

void host_stall_join(uint64_t now)
{
    if (host_stall_long == UINT64_MAX) return;
    struct host_stall *h = mem_zalloc(1, sizeof *h);
    if (!h) return;
    host_stall_refresh(h, now);
    h->left = now;
    h->delay_ns = host_stall_run_delay();
    h->delay_at = now;
    pthread_setspecific(at_exit, h);
    host_stall_me = h;
}

/* ---- a stall */

static uint64_t host_stall_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void host_stall_arg(const char *key, uint64_t value)
{
    recorder_put((struct ring_record){.kind = RING_ARG,
                                      .name = (uint16_t)names_id(str_c(key)),
                                      .type = RING_INT},
                 value);
}

/* Threads that could run, on the whole machine; 0 when not known. */
static uint64_t host_stall_runnable(void)
{
    char text[128], *at = text;
    if (!host_stall_read_file("/proc/loadavg", text, sizeof text)) return 0;
    for (int i = 0; i < 3 && at; i++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static void host_stall_put_cores(void)
{
    cpu_set_t mine;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    host_stall_arg(RING_HOST_RUNNABLE, host_stall_runnable());
    if (online > 0) host_stall_arg(RING_HOST_ONLINE, (uint64_t)online);
    if (sched_getaffinity(0, sizeof mine, &mine) == 0)
        host_stall_arg(RING_HOST_CORES, (uint64_t)CPU_COUNT(&mine));
}

static void host_stall_put(enum stall which, uint64_t begin, uint64_t end, uint64_t lost_ns)
{
    recorder_put((struct ring_record){.ticks = end,
                                      .kind = RING_RANGE,
                                      .name = (uint16_t)names_id(str_c(titles[which])),
                                      .category = (uint16_t)names_id(str_c(RING_HOST))},
                 begin);
    host_stall_arg(RING_HOST_THREAD, (uint64_t)syscall(SYS_gettid));
    host_stall_arg(RING_HOST_LOST, lost_ns / 1000);
    if (which == STALL_CORE) host_stall_put_cores();
}

/* Of the time that it had a core, for what it did with that. */
static bool host_stall_matters(uint64_t lost_ns, uint64_t of_ns)
{
    return lost_ns >= LEAST_NS && lost_ns * LEAST_PART >= of_ns;
}

/* From `begin` to `end` the thread made no call, or was inside one. Calls came quickly before: what
 * was lost since the counts were read was lost here. Inside a call only a core can be missing: what
 * else it waits for is the call's own. */
static void host_stall_look(struct host_stall *h, uint64_t begin, uint64_t end, bool inside)
{
    struct host_stall was = *h;
    uint64_t length = host_stall_ns(end - begin), lost[N_STALLS] = {0};
    host_stall_count(h, end);
    h->gil_ns = host_stall_gil_ns();
    h->delay_ns = host_stall_run_delay();
    h->delay_at = end;
    if (begin < atomic_load(&since) || h->cpu_ns < was.cpu_ns) return;
    uint64_t wall = host_stall_ns(end - was.read_at), cpu = h->cpu_ns - was.cpu_ns;
    uint64_t off = host_stall_least(wall > cpu ? wall - cpu : 0, length);
    uint64_t delay =
        host_stall_least(h->delay_ns > was.delay_ns ? h->delay_ns - was.delay_ns : 0, off);
    uint64_t blocked = off - delay;
    if (!inside) {
        if (h->gil_ns > was.gil_ns && (h->gil_ns - was.gil_ns) * 2 >= blocked)
            lost[STALL_GIL] = blocked;
        else if (h->major > was.major)
            lost[STALL_FAULTS] =
                host_stall_least((uint64_t)(h->major - was.major) * DISK_NS, blocked);
        lost[STALL_FAULTS] +=
            host_stall_least((uint64_t)(h->minor - was.minor) * fault_ns, length - off);
    }
    bool matters = host_stall_matters(delay, length);
    lost[matters && host_stall_is_throttled(delay) ? STALL_CGROUP : STALL_CORE] = delay;
    for (int i = 0; i < N_STALLS; i++) {
        bool core = i == STALL_CORE || i == STALL_CGROUP;
        if (host_stall_matters(lost[i], core ? length : length - delay))
            host_stall_put((enum stall)i, begin, end, lost[i]);
    }
}

void host_stall_outside(struct host_stall *h, uint64_t now)
{
    host_stall_look(h, h->left, now, false);
}

void host_stall_inside(struct host_stall *h, uint64_t begin, uint64_t end)
{
    host_stall_look(h, begin, end, true);
}

/* ---- the begin */

/* One page fault of fresh memory, by the fastest of some batches: 60 us once. */
static void host_stall_calibrate(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = CALIBRATE_PAGES * page;
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < CALIBRATE_TIMES; i++) {
        volatile char *p =
            mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return;
        uint64_t begin = clock_mono_ns();
        for (size_t k = 0; k < n; k += page) p[k] = 1;
        uint64_t took = clock_mono_ns() - begin;
        if (took < best) best = took;
        munmap((void *)(uintptr_t)p, n);
    }
    fault_ns = best / CALIBRATE_PAGES;
}

static void host_stall_thread_exits(void *h)
{
    host_stall_me = NULL;
    mem_free(h);
}

static void host_stall_forget_in_child(void)
{
    pthread_mutex_init(&cgroup.lock, NULL);
    if (host_stall_me) *host_stall_me = (struct host_stall){0};
    host_stall_long = UINT64_MAX;
}

static void host_stall_prepare(void)
{
    pthread_key_create(&at_exit, host_stall_thread_exits);
    pthread_atfork(NULL, NULL, host_stall_forget_in_child);
    host_stall_find_cgroup();
    host_stall_calibrate();
}

void host_stall_begin(void)
{
    pthread_once(&once, host_stall_prepare);
    double per_ns = recorder_ticks_per_second() / 1e9;
    ns_per_tick = 1 / per_ns;
    fresh_ticks = (uint64_t)(FRESH_NS * per_ns);
    delay_ticks = (uint64_t)(DELAY_NS * per_ns);
    host_stall_begin_cgroup();
    atomic_store(&since, clock_ticks(recorder_clock()));
    host_stall_long = (uint64_t)(LONG_NS * per_ns);
}
