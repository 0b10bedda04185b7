/* parts.c: see parts.h. */
#include "backend/parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/control.h"
#include "backend/program/nvtx.h"
#include "backend/recording.h"
#include "record/names.h"
#include "record/recorder.h"

static struct {
    pthread_mutex_t lock;
    const char *device; /* backend of the driver that is up; NULL: none is */
    bool device_started, on;
    int n;
} parts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void (*told)(int on); /* under the lock below */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

bool parts_wanted(void)
{
    const char *level = getenv("STRATA_LEVEL");
    return level && strcmp(level, "standby") == 0;
}

static void tell(int on)
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
static void mark(const char *name)
{
    struct ring_record r = {.kind = RING_INSTANT, .name = (uint16_t)names_id(str_c(name))};
    recorder_put(r, 0);
}

/* With the lock held. */
static void switch_on(void)
{
    bool first = parts.device && !parts.device_started;
    recording_expect_device(parts.device != NULL);
    if (first || !parts.n) (void)recording_start(parts.device ? parts.device : "none", false);
    if (parts.n) recording_pause(false);
    parts.device_started = parts.device != NULL;
    nvtx_be_quiet(false);
    parts.on = true;
}

static int begin(struct err *e)
{
    TRY(recorder_open(e));
    pthread_mutex_lock(&parts.lock);
    int n = parts.on ? -1 : parts.n + 1;
    if (n > 0) {
        switch_on();
        mark("strata.timeline begins");
        parts.n = n;
    }
    pthread_mutex_unlock(&parts.lock);
    if (n < 0) return FAIL(e, ERR_USAGE, "it is being recorded already");
    tell(1);
    return n;
}

static void end(void)
{
    tell(0);
    pthread_mutex_lock(&parts.lock);
    if (parts.on) {
        mark("strata.timeline ends");
        recording_pause(true);
        nvtx_be_quiet(true);
        parts.on = false;
    }
    pthread_mutex_unlock(&parts.lock);
}

static const char *state(void)
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

static int snapshot(const char *why, char *ret, size_t cap, struct err *e)
{
    (void)why;
    if (cap) *ret = 0;
    return FAIL(e, ERR_USAGE, "it keeps nothing: that takes strata run --keep");
}

/* A child is not recorded until it waits itself. */
static void forget_in_child(void)
{
    pthread_mutex_init(&parts.lock, NULL);
    pthread_mutex_init(&telling, NULL);
    told = NULL;
    parts.device = NULL;
    parts.device_started = parts.on = false;
    parts.n = 0;
}

static void prepare(void)
{
    nvtx_be_quiet(true);
    pthread_atfork(NULL, NULL, forget_in_child);
}

void parts_wait(void)
{
    static const struct control_actions actions = {begin, end, state, n_parts, snapshot};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct err e;
    err_init(&e);
    const char *run = getenv("STRATA_RUN");
    pthread_once(&once, prepare);
    if (!recording_prepare() || !run || !*run) return;
    if (control_start(run, &actions, &e) < 0) backend_note("cannot be recorded later: %s", e.msg);
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
