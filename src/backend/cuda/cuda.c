/* cuda.c: starting, fetching, ending. A thread of ours fetches what the GPU has finished every
 * 100 ms, so that a killed process loses no more than that. */
#include "backend/cuda/cuda.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "backend/cuda/cuda_private.h"
#include "backend/cuda/records.h"
#include "backend/program/depth.h"
#include "backend/program/python_side.h"
#include "record/recorder.h"

#define LAST_FETCH_S    5    /* how long the end of the program may wait for our thread */
#define MOST_HOLD_MS    1000 /* how long the program may wait while our thread fetches */
#define SETTLE_EVERY_MS 20   /* between two looks for work that is to be in the files */

static struct cupti_api api;
static struct backend_options options;
static pthread_t thread;
static atomic_bool running;
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* starting and stopping */

/* Held by our thread while it is in CUPTI or NVML, and around fork: a child that ends runs CUPTI's
 * end too, which would wait for the locks of a thread that the child does not have. */
static pthread_mutex_t fetching = PTHREAD_MUTEX_INITIALIZER;
static __thread bool holding __attribute__((tls_model("initial-exec"))); /* while it forks */

/* Between our thread and the thread that ends it. The monotonic clock cannot be set back. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ending, ended;
} turn;

static struct timespec cuda_soon(uint32_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)ms % 1000 * 1000000;
    t.tv_sec += (time_t)ms / 1000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Waits for the flag, or for that long; returns it. */
static bool cuda_wait_for(const bool *flag, uint32_t ms)
{
    struct timespec limit = cuda_soon(ms);
    pthread_mutex_lock(&turn.lock);
    while (!*flag && pthread_cond_timedwait(&turn.changed, &turn.lock, &limit) != ETIMEDOUT) {}
    bool there = *flag;
    pthread_mutex_unlock(&turn.lock);
    return there;
}

static void cuda_tell(bool *flag)
{
    pthread_mutex_lock(&turn.lock);
    *flag = true;
    pthread_cond_broadcast(&turn.changed);
    pthread_mutex_unlock(&turn.lock);
}

static void *cuda_fetch(void *unused)
{
    bool defined = false;
    pthread_mutex_lock(&fetching);
    if (options.clocks) clocks_load();
    pthread_mutex_unlock(&fetching);
    while (!cuda_wait_for(&turn.ending, options.flush_ms)) {
        if (!defined) defined = devices_define();
        backend_note_python();
        pthread_mutex_lock(&fetching);
        activity_fetch(false);
        graph_nodes_write();
        if (options.clocks) clocks_sample(records_devices());
        pthread_mutex_unlock(&fetching);
    }
    if (!defined) (void)devices_define();
    backend_note_python();
    cuda_tell(&turn.ended);
    return NULL;
}

static void begin_turn(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&turn.lock, NULL);
    pthread_cond_init(&turn.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    turn.ending = turn.ended = false;
}

/* Ours: no signal of the program is handled on it. */
static int cuda_start_thread(struct err *e)
{
    sigset_t all, before;
    sigfillset(&all);
    begin_turn();
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, cuda_fetch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) return FAIL(e, ERR_IO, "cannot start a thread");
    pthread_setname_np(thread, "strata gpu");
    return 0;
}

/* False when it does not come back in time: the thread is inside CUPTI then, and no other thread
 * may fetch. */
static bool join_thread(void)
{
    cuda_tell(&turn.ending);
    return cuda_wait_for(&turn.ended, LAST_FETCH_S * 1000) && pthread_join(thread, NULL) == 0;
}

/* Our thread never came back from CUPTI. There can be no other one beside it. */
static bool stuck;

static void cuda_stop(bool detach)
{
    pthread_mutex_lock(&life);
    if (atomic_exchange(&running, false)) {
        python_side_stop();
        bool alone = join_thread();
        stuck = !alone;
        if (alone) activity_fetch(true);
        if (alone && detach) {
            activity_pause(true);
            activity_fetch(true); /* what came while the kinds were switched off */
        }
        callbacks_stop(alone && detach);
        graph_nodes_write();
    }
    pthread_mutex_unlock(&life);
}

/* Other threads may be anywhere. */
static void stop_at_exit(void)
{
    cuda_stop(false);
}

/* Not for long: the program must not wait for CUPTI. */
static bool hold_fetching(void)
{
    static const struct timespec ms = {0, 1000000};
    for (int i = 0; i < MOST_HOLD_MS; i++) {
        if (pthread_mutex_trylock(&fetching) == 0) return true;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
    }
    return false;
}

static atomic_int n_others; /* profilers that have announced themselves, and have not ended */
static bool waits;          /* to go on when they have; under `life` */

/* CUPTI hands its records to one of us. Who was there first keeps them. */
static bool others_record(void)
{
    if (atomic_load(&n_others) <= 0) return false;
    backend_note("another profiler records in this process (torch.profiler, or torch's CUPTI "
                 "monitor): GPU work is not recorded until it has ended");
    return true;
}

static void pause_parts(bool paused)
{
    pthread_mutex_lock(&life);
    waits = !paused && atomic_load(&running) && others_record();
    if (atomic_load(&running) && !waits) {
        bool held = hold_fetching();
        if (!paused) callbacks_pause(false); /* calls without work are better than the reverse */
        activity_pause(paused);
        if (paused) callbacks_pause(true);
        clocks_pause(paused);
        graph_nodes_write();
        if (held) pthread_mutex_unlock(&fetching);
    }
    pthread_mutex_unlock(&life);
}

/* Also where a context is about to end: CUPTI forgets then what it has not handed over. */
static void cuda_flush(void)
{
    if (!atomic_load(&running) || !hold_fetching()) return;
    activity_fetch(false);
    pthread_mutex_unlock(&fetching);
}

/* Work of other streams that was launched before may end later: one more look for it. */
static void cuda_settle(uint32_t ms)
{
    static const struct timespec pause = {0, SETTLE_EVERY_MS * 1000000};
    uint32_t launch = atomic_load(&pulse_newest_launch);
    bool nothing = !atomic_load(&pulse_launched);
    for (uint32_t waited = 0; !nothing && waited < ms; waited += SETTLE_EVERY_MS) {
        cuda_flush();
        if (!atomic_load(&running) || pulse_has_reached(launch)) break;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    cuda_flush();
}

static enum backend_work cuda_work(void)
{
    if (!atomic_load(&running)) return BACKEND_WORK_NONE;
    if (atomic_load(&n_others) > 0 || activity_is_taken()) return BACKEND_WORK_LOST;
    return atomic_load(&pulse_launched) ? BACKEND_WORK_SEEN : BACKEND_WORK_NONE;
}

static bool cuda_is_awaited(void)
{
    pthread_mutex_lock(&life);
    bool yes = waits && atomic_load(&n_others) <= 0;
    pthread_mutex_unlock(&life);
    return yes;
}

static void meet_other(bool begins)
{
    if (begins) atomic_fetch_add(&n_others, 1);
    else if (atomic_fetch_sub(&n_others, 1) <= 0) atomic_store(&n_others, 0); /* began before us */
    if (!begins && cuda_is_awaited()) {
        pause_parts(false);
        return;
    }
    pthread_mutex_lock(&life);
    if (atomic_load(&running) && hold_fetching()) {
        activity_meet_other(begins);
        pthread_mutex_unlock(&fetching);
    }
    pthread_mutex_unlock(&life);
}

static void cuda_before_fork(void)
{
    holding = hold_fetching();
}

static void cuda_after_fork_in_parent(void)
{
    if (holding) pthread_mutex_unlock(&fetching);
}

/* The child has no GPU, no thread of ours, and memory the parent's library still fills. */
static void cuda_after_fork_in_child(void)
{
    pthread_mutex_init(&life, NULL);
    pthread_mutex_init(&fetching, NULL);
    atomic_store(&n_others, 0);
    waits = false;
    if (!atomic_exchange(&running, false)) return;
    callbacks_stop(false);
    activity_forget();
    graph_nodes_forget();
}

static void cuda_prepare(void)
{
    pthread_atfork(cuda_before_fork, cuda_after_fork_in_parent, cuda_after_fork_in_child);
    atexit(stop_at_exit);
}

static int start_parts(struct err *e)
{
    if (stuck) return FAIL(e, ERR_UNSUPPORTED, "CUPTI is still busy with the last recording");
    if (others_record())
        return FAIL(e, ERR_UNSUPPORTED, "another profiler of this process has CUPTI's records");
    if (!api.version) TRY(cupti_api_load(&api, e)); /* else it may just be calling us */
    callbacks_at_context_end(cuda_flush);
    TRY(callbacks_start(&api, &options, e));
    int rc = activity_start(&api, &options, e);
    if (rc == 0) rc = cuda_start_thread(e);
    if (rc < 0) {
        activity_pause(true);
        callbacks_stop(true);
    }
    return rc;
}

static int cuda_start(const struct backend_options *o, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int rc = 0;
    pthread_once(&once, cuda_prepare);
    pthread_mutex_lock(&life);
    if (!atomic_load(&running)) {
        options = *o;
        rc = start_parts(e);
        if (rc == 0) atomic_store(&running, true);
        if (rc == 0) depth_wait_by(devices_wait);
        if (api.version) backend_fact("cupti_version", "%u", api.version);
        if (api.path[0]) backend_fact("libcupti", "%s", api.path);
    }
    pthread_mutex_unlock(&life);
    return rc;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs, through CUPTI",
    .probe = cuda_probe,
    .start = cuda_start,
    .stop = cuda_stop,
    .flush = cuda_flush,
    .settle = cuda_settle,
    .work = cuda_work,
    .pause = pause_parts,
    .meet_other = meet_other,
};
