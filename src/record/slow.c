/* slow.c: see slow.h. */
#include "record/slow.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "format/control.h"
#include "record/names.h"
#include "record/recorder.h"

enum { MOST_NAMES = 256, AGAIN_EVERY = 8 };
#define NOTICED_NS 1000000    /* a smaller difference is nothing */
#define REST_NS    5000000000 /* between two requests */

_Atomic enum slow_watch slow_watch;

static struct slow_times all[MOST_NAMES];
static double limit, ns_per_tick;
static uint64_t asked_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void find_median(struct slow_times *t)
{
    int64_t sorted[SLOW_KEPT];
    uint32_t kept = t->n - SLOW_COLD, n = kept < SLOW_KEPT ? kept : SLOW_KEPT;
    memcpy(sorted, t->ns, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    t->median_ns = sorted[n / 2];
}

bool slow_add(struct slow_times *t, int64_t ns, double most)
{
    bool known = t->n >= SLOW_LEAST + SLOW_COLD;
    bool slow = known && (double)ns > most * (double)t->median_ns && ns - t->median_ns > NOTICED_NS;
    if (t->n++ < SLOW_COLD) return false;
    t->ns[(t->n - 1 - SLOW_COLD) % SLOW_KEPT] = ns;
    if (t->n == SLOW_LEAST + SLOW_COLD || (known && t->n % AGAIN_EVERY == 0)) find_median(t);
    return slow;
}

static struct slow_times *times_of(uint32_t name)
{
    for (uint32_t i = 0; i < MOST_NAMES; i++) {
        struct slow_times *t = &all[(name * 2654435761u + i) % MOST_NAMES];
        if (!t->name) t->name = name;
        if (t->name == name) return t;
    }
    return NULL;
}

/* Asks, and does not wait for the answer. */
static void ask(const char *why)
{
    const char *run = getenv("STRATA_RUN");
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char path[RUNDIR_MAX + 32], request[CONTROL_LINE];
    snprintf(path, sizeof path, "%s/" CONTROL_FOLDER, run ? run : "");
    int dir = fd_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0) return;
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%ld", dir, (long)getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0) {
        int n = snprintf(request, sizeof request, "snapshot %s\n", why);
        (void)(send(fd, request, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) == n);
    }
    if (fd >= 0) close(fd);
    close(dir);
}

static void say(const struct slow_times *t, int64_t ns)
{
    char why[400];
    struct str name = names_text(t->name);
    int n = name.n < 200 ? (int)name.n : 200;
    snprintf(why, sizeof why, "slow: %.*s took %.3g ms, %.1f times its median of %.3g ms", n,
             name.p, (double)ns / 1e6, (double)ns / (double)(t->median_ns ? t->median_ns : 1),
             (double)t->median_ns / 1e6);
    for (char *c = why; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    ask(why);
}

static bool decide(void)
{
    const char *text = getenv("STRATA_SLOW");
    double wanted = text ? strtod(text, NULL) : 0;
    bool on = wanted > 1 && getenv("STRATA_KEEP");
    limit = wanted;
    ns_per_tick = 1e9 / recorder_ticks_per_second();
    atomic_store(&slow_watch, on ? SLOW_ON : SLOW_OFF);
    return on;
}

/* With the lock held: the entry if this is to be reported. */
static struct slow_times *judge(uint32_t name, int64_t ns)
{
    struct slow_times *t = times_of(name);
    if (!t || !slow_add(t, ns, limit)) return NULL;
    uint64_t now = clock_mono_ns();
    if (asked_ns && now - asked_ns < REST_NS) return NULL;
    asked_ns = now;
    return t;
}

void slow_look(uint32_t name, uint64_t begin, uint64_t end)
{
    if (!name || end < begin || pthread_mutex_trylock(&lock) != 0) return; /* one less to know */
    bool on = atomic_load(&slow_watch) == SLOW_ON || decide();
    int64_t ns = (int64_t)((double)(end - begin) * ns_per_tick);
    struct slow_times *t = on ? judge(name, ns) : NULL;
    struct slow_times known = t ? *t : (struct slow_times){0};
    pthread_mutex_unlock(&lock);
    if (t) say(&known, ns);
}

void slow_step(void)
{
    static _Atomic uint64_t began;
    if (atomic_load_explicit(&slow_watch, memory_order_relaxed) == SLOW_OFF) return;
    uint64_t now = clock_ticks(recorder_clock()), before = atomic_exchange(&began, now);
    if (before) slow_saw(names_id(str_c("step")), before, now);
}
