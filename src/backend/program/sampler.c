/* sampler.c: see python_side.h. */
#include "backend/program/python_side.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/program/pystack.h"
#include "backend/program/watched.h"
#include "record/defs.h"
#include "record/recorder.h"

enum {
    CHORES_EVERY_NS = 50000000,
    SHARE_AT_1KHZ = 50, /* sampling takes at most 1 / SHARE_AT_1KHZ of a core */
};

static _Atomic bool running, stopping;
static uint64_t period_ns; /* 0: chores only */
static void (*chore)(void);
static pthread_t sampling_thread;
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* starting and stopping */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t sampler_ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A thread that ends waits for us to look away. */
static void sampler_take_samples(void)
{
    static int first; /* another one each time: the budget is for all of them */
    watched_hold();
    int n = pystack_api() ? watched_count() : 0;
    for (int i = 0; i < n; i++) {
        struct watched *w = watched_at((first + i) % n);
        if (w) thread_peek_at(w);
    }
    first++;
    watched_release();
}

/* Where it is late nothing is made up for: the machine is short of time as it is. */
static void sleep_from(struct timespec *when, uint64_t ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t late = (now.tv_sec - when->tv_sec) * 1000000000 + (now.tv_nsec - when->tv_nsec);
    if (late > (int64_t)ns) *when = now;
    when->tv_sec += (time_t)((when->tv_nsec + (long)ns) / 1000000000);
    when->tv_nsec = (when->tv_nsec + (long)ns) % 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, when, NULL);
}

/* Until when to sleep after a round: in time for the next, and never more than our share. */
static uint64_t one_round(void)
{
    uint64_t cpu = sampler_ns_of(CLOCK_THREAD_CPUTIME_ID);
    sampler_take_samples();
    uint64_t parts = SHARE_AT_1KHZ * period_ns / 1000000;
    uint64_t least = (sampler_ns_of(CLOCK_THREAD_CPUTIME_ID) - cpu) * parts;
    return least > period_ns ? least : period_ns;
}

/* Threads that work side by side wait for the last of them: ours does not push one aside when it
 * wakes up. */
static void be_modest(void)
{
    static const struct sched_param usual;
    pthread_setname_np(pthread_self(), "strata-sampler");
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &usual);
}

static void *sampler_sample(void *unused)
{
    (void)unused;
    uint64_t since_chores = 0;
    struct timespec when;
    be_modest();
    clock_gettime(CLOCK_MONOTONIC, &when);
    while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
        uint64_t pace = period_ns ? one_round() : CHORES_EVERY_NS;
        since_chores += pace;
        if (since_chores >= CHORES_EVERY_NS) {
            since_chores = 0;
            if (chore) chore();
        }
        sleep_from(&when, pace < CHORES_EVERY_NS ? pace : CHORES_EVERY_NS);
    }
    return NULL;
}

/* The sampling thread is the parent's. */
static void sampler_forget_in_child(void)
{
    pthread_mutex_init(&life, NULL);
    atomic_store(&running, false);
}

static void sampler_prepare(void)
{
    watched_prepare();
    pthread_atfork(NULL, NULL, sampler_forget_in_child);
}

static int sampler_start_thread(struct err *e)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are not for our thread */
    int error = pthread_create(&sampling_thread, NULL, sampler_sample, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error ? FAIL(e, ERR_IO, "cannot start the sampling thread") : 0;
}

/* With `life` held. */
static int sampler_do_start(const struct sampler_options *o, struct err *e)
{
    if (atomic_exchange(&running, true)) return 0;
    chore = o->chore;
    period_ns = o->samples_a_second ? 1000000000u / o->samples_a_second : 0;
    atomic_store(&stopping, false);
    if (period_ns) thread_peek_begin(period_ns);
    int rc = sampler_start_thread(e);
    if (rc < 0) {
        atomic_store(&running, false);
        return rc;
    }
    if (period_ns) watched_begin((uint64_t)((double)period_ns * recorder_ticks_per_second() / 1e9));
    char fact[48];
    snprintf(fact, sizeof fact, "sample_period_us=%llu", (unsigned long long)period_ns / 1000);
    if (period_ns) defs_id(DEF_FACT, str_c(fact));
    return 0;
}

int sampler_start(const struct sampler_options *o, struct err *e)
{
    pthread_once(&once, sampler_prepare);
    pthread_mutex_lock(&life);
    int rc = sampler_do_start(o, e);
    pthread_mutex_unlock(&life);
    return rc;
}

/* With `life` held. */
static void sampler_do_stop(void)
{
    if (!atomic_load(&running)) return;
    atomic_store_explicit(&stopping, true, memory_order_release);
    pthread_join(sampling_thread, NULL);
    atomic_store(&running, false);
    watched_end();
    watched_hold();
    for (int i = 0; i < watched_count(); i++) {
        struct watched *w = watched_at(i);
        if (w) thread_peek_end(w);
    }
    watched_release();
}

void sampler_stop(void)
{
    pthread_mutex_lock(&life);
    sampler_do_stop();
    pthread_mutex_unlock(&life);
}
