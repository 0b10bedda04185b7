/* parts.c: see parts.h. */
#include "backend/parts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/control.h"
#include "backend/program/nvtx.h"
#include "backend/recording.h"
#include "base/fd.h"
#include "format/control.h"
#include "record/names.h"
#include "record/recorder.h"

static struct {
    pthread_mutex_t lock;
    const char *device; /* backend of the driver that is up; NULL: none is */
    bool device_started, on, looks;
    int n;
} parts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void (*told)(int on); /* under the lock below */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

bool parts_wanted(void)
{
    const char *level = getenv("STRATA_LEVEL");
    return level && strcmp(level, "standby") == 0;
}

static void parts_tell(int on)
{
    pthread_mutex_lock(&telling);
    if (told) told(on);
    pthread_mutex_unlock(&telling);
}

void parts_on_switch(void (*function)(int on))
{
    pthread_mutex_lock(&telling);
    told = function;
    pthread_mutex_unlock(&telling);
}

/* The marks that readers find parts by (trace/recorded_parts.h). */
static void parts_mark(const char *name)
{
    struct ring_record r = {.kind = RING_INSTANT, .name = (uint16_t)names_id(str_c(name))};
    recorder_put(r, 0);
}

/* A driver that was loaded before us was not noticed. */
static void parts_find_device(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver) return;
    parts.device = "cuda";
    dlclose(driver);
}

/* With the lock held. */
static void switch_on(void)
{
    if (parts.looks && !parts.device) parts_find_device();
    bool first = parts.device && !parts.device_started;
    recording_expect_device(parts.device != NULL);
    int rc = 0;
    if (first || !parts.n) rc = recording_start(parts.device ? parts.device : "none", false);
    if (parts.n) recording_pause(false);
    parts.device_started = parts.device != NULL && rc >= 0; /* else the next part tries again */
    nvtx_be_quiet(false);
    parts.on = true;
}

static int parts_begin(struct err *e)
{
    TRY(recorder_open(e));
    pthread_mutex_lock(&parts.lock);
    int n = parts.on ? -1 : parts.n + 1;
    if (n > 0) {
        switch_on();
        parts_mark("strata.timeline begins");
        parts.n = n;
    }
    pthread_mutex_unlock(&parts.lock);
    if (n < 0) return FAIL(e, ERR_USAGE, "it is being recorded already");
    parts_tell(1);
    return n;
}

static void parts_end(void)
{
    parts_tell(0);
    pthread_mutex_lock(&parts.lock);
    if (parts.on) {
        parts_mark("strata.timeline ends");
        recording_pause(true);
        nvtx_be_quiet(true);
        parts.on = false;
    }
    pthread_mutex_unlock(&parts.lock);
}

static const char *parts_state(void)
{
    pthread_mutex_lock(&parts.lock);
    bool on = parts.on;
    pthread_mutex_unlock(&parts.lock);
    return on ? "recording" : "idle";
}

static int n_parts(void)
{
    pthread_mutex_lock(&parts.lock);
    int n = parts.n;
    pthread_mutex_unlock(&parts.lock);
    return n;
}

static int parts_snapshot(const char *why, char *ret, size_t cap, struct err *e)
{
    (void)why;
    if (cap) *ret = 0;
    return FAIL(e, ERR_USAGE, "it keeps nothing: that takes strata run --keep");
}

/* A child is not recorded until it waits itself. */
static void parts_forget_in_child(void)
{
    pthread_mutex_init(&parts.lock, NULL);
    pthread_mutex_init(&telling, NULL);
    told = NULL;
    parts.device = NULL;
    parts.device_started = parts.on = false;
    parts.n = 0;
}

static void parts_prepare(void)
{
    nvtx_be_quiet(true);
    pthread_atfork(NULL, NULL, parts_forget_in_child);
}

static const struct control_actions actions = {parts_begin, parts_end, parts_state, n_parts,
                                               parts_snapshot};
static char waits_in[RUNDIR_MAX]; /* the folder that it listens in */

void parts_wait(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct err e;
    err_init(&e);
    const char *run = getenv("STRATA_RUN");
    pthread_once(&once, parts_prepare);
    if (!recording_prepare() || !run || !*run) return;
    if (control_start(run, &actions, &e) < 0) backend_note("cannot be recorded later: %s", e.msg);
    else if (!waits_in[0]) snprintf(waits_in, sizeof waits_in, "%s", run);
}

/* Says in the folder made for it now where it waits. */
static void parts_point_to(const char *run, const char *before)
{
    char path[RUNDIR_MAX + sizeof CONTROL_WAITS_IN + 1];
    snprintf(path, sizeof path, "%s/" CONTROL_WAITS_IN, run);
    int fd = fd_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return;
    (void)(write(fd, before, strlen(before)) > 0);
    close(fd);
}

void parts_wait_in(const char *run)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct recorder_options o;
    struct err e;
    err_init(&e);
    if (waits_in[0]) run = (parts_point_to(run, waits_in), waits_in);
    pthread_once(&once, parts_prepare);
    recorder_options_from_env(&o);
    o.where.dir = run;
    if (recorder_start(&o, &e) < 0) return;
    if (control_start(run, &actions, &e) < 0) backend_note("cannot be recorded later: %s", e.msg);
    else if (run != waits_in) snprintf(waits_in, sizeof waits_in, "%s", run);
}

void parts_look_for_device(void)
{
    pthread_mutex_lock(&parts.lock);
    parts.looks = true;
    pthread_mutex_unlock(&parts.lock);
}

void parts_device(const char *backend)
{
    pthread_mutex_lock(&parts.lock);
    parts.device = backend;
    if (parts.on && !parts.device_started) {
        (void)recording_start(backend, false);
        parts.device_started = true;
    }
    pthread_mutex_unlock(&parts.lock);
}
