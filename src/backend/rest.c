/* rest.c: see rest.h. A thread of ours looks some times per second, and switches: no thread of the
 * program ever waits for it. */
#include "backend/rest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/recording.h"
#include "base/clock.h"
#include "base/fd.h"
#include "record/names.h"
#include "record/rank.h"
#include "record/recorder.h"

enum { LOOK_EVERY_MS = 50, MOST_SOURCES = 4 };
#define LEADER ".rests"

static _Atomic(struct repeats_seen *) sources[MOST_SOURCES];
static atomic_int n_sources, n_held;
static atomic_bool started;
static bool ended; /* under the lock: nothing is switched any more */
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

bool rest_wanted(void)
{
    const char *text = getenv("STRATA_REST");
    return text && strcmp(text, "on") == 0;
}

void rest_listen(struct repeats_seen *units)
{
    int n = atomic_fetch_add(&n_sources, 1);
    if (n < MOST_SOURCES) atomic_store(&sources[n], units);
}

void rest_hold(bool begins)
{
    atomic_fetch_add(&n_held, begins ? 1 : -1);
}

/* The recorder that has seen most of the time in one unit knows it. */
static const struct repeats_seen *rest_units(void)
{
    const struct repeats_seen *most = NULL;
    for (int i = 0; i < MOST_SOURCES; i++) {
        const struct repeats_seen *u = atomic_load(&sources[i]);
        if (u && (!most || atomic_load(&u->total_ns) > atomic_load(&most->total_ns))) most = u;
    }
    return most;
}

static struct rest_look rest_look_now(void)
{
    const struct repeats_seen *u = rest_units();
    struct rest_look k = {.now_ns = clock_mono_ns(), .held = atomic_load(&n_held) > 0};
    bool lost = false;
    for (int i = 0; backends[i]; i++) {
        k.works |= backends[i]->work() == BACKEND_WORK_SEEN;
        lost |= backends[i]->work() == BACKEND_WORK_LOST;
    }
    k.held |= lost; /* another profiler has the place: taking it again would cost it its records */
    if (!u) return k;
    k.name = atomic_load(&u->name);
    k.n = atomic_load(&u->n);
    k.usual_ns = atomic_load(&u->usual_ns);
    k.steady = atomic_load(&u->steady);
    k.works |= k.name != 0;
    return k;
}

static void rest_mark(const char *name)
{
    struct ring_record r = {.kind = RING_INSTANT, .name = (uint16_t)names_id(str_c(name))};
    recorder_put(r, 0);
}

static void rest_say(bool rest)
{
    for (int i = 0; i < MOST_SOURCES; i++) {
        struct repeats_seen *u = atomic_load(&sources[i]);
        if (u) atomic_store(&u->rests, rest);
    }
}

static void rest_switch(bool rest)
{
    pthread_mutex_lock(&switching);
    if (!ended) {
        rest_mark(rest ? RING_RESTS : RING_WAKES);
        rest_say(rest);
        recording_rest(rest);
        rest_mark(rest ? RING_RESTING : RING_AWAKE);
    }
    pthread_mutex_unlock(&switching);
}

/* The run's folder has room for one name: whose process lives. */
static bool rest_leads(void)
{
    char path[RUNDIR_MAX + sizeof LEADER + 1], mine[32], other[32] = "";
    const char *run = recorder_dir();
    if (!run) return false;
    snprintf(path, sizeof path, "%s/" LEADER, run);
    int fd = fd_open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) return false;
    ssize_t n = read(fd, other, sizeof other - 1);
    long pid = n > 0 ? strtol(other, NULL, 10) : 0;
    bool free = pid <= 0 || pid == (long)getpid() || (kill((pid_t)pid, 0) < 0 && errno == ESRCH);
    snprintf(mine, sizeof mine, "%ld\n", (long)getpid());
    free = free && pwrite(fd, mine, strlen(mine), 0) == (ssize_t)strlen(mine);
    close(fd);
    return free;
}

static double rest_scale(void)
{
    const char *text = getenv("STRATA_TEST_REST");
    double scale = text ? strtod(text, NULL) : 1;
    return scale > 0 ? scale : 1;
}

static void *rest_attend(void *unused)
{
    struct rest_plan plan = {.scale = rest_scale()};
    double wait_ms = LOOK_EVERY_MS * (plan.scale < 1 ? plan.scale : 1);
    struct timespec pause = {0, (long)(wait_ms * 1e6)};
    for (;;) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        struct rest_look k = rest_look_now();
        bool before = plan.resting, first = !plan.n_rests;
        if (rest_plan_look(&plan, &k) == before) continue;
        if (first && !rest_leads()) break;
        rest_switch(plan.resting);
    }
    return unused;
}

static void rest_forget_in_child(void)
{
    pthread_mutex_init(&switching, NULL);
    atomic_store(&started, false);
    atomic_store(&n_held, 0);
}

static void rest_prepare(void)
{
    rest_listen(repeats_watch());
    pthread_atfork(NULL, NULL, rest_forget_in_child);
    atexit(rest_stop);
}

void rest_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;
    pthread_t thread;
    pthread_once(&once, rest_prepare);
    if (rank_find().world > 1 || atomic_exchange(&started, true)) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&thread, NULL, rest_attend, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!made) return;
    pthread_setname_np(thread, "strata-rest");
    pthread_detach(thread); /* it ends with the process */
}

void rest_stop(void)
{
    pthread_mutex_lock(&switching);
    ended = true;
    pthread_mutex_unlock(&switching);
}
