/* sampler.c: see sampler.h.
 *
 * A watched thread has a place, which tells the sampling thread where its frames are. Places are
 * never freed, only used again. A thread that ends gives its place back and waits, by the lock, for
 * us to look away: its thread state is the interpreter's to free. */
#include "backend/program/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/program/pystack.h"
#include "backend/program/pytable.h"
#include "base/mem.h"
#include "record/defs.h"
#include "record/recorder.h"

enum { MOST_PLACES = 256, CHORES_EVERY_NS = 50000000 };

struct place {
    _Atomic int tid; /* 0: nobody's */
    uintptr_t tstate;
    clockid_t cpu_clock;

    /* the sampling thread's own */
    struct pywalk_memo walk_memo;
    struct pytable_memo stack_memo;
    uintptr_t outermost[2]; /* frames that stacks ended at: the last that counted, the last seen */
    uint64_t cpu_ns;        /* of the thread, at the last look */
    uint32_t standing;      /* the stack it stands at, 0 when it ran since */
    uint64_t standing_from; /* ticks */
    uint64_t standing_to;   /* when it was last found there */
};

/* What one reading of a thread gives, innermost first. */
struct reading {
    int n;
    uintptr_t outermost;
    struct pyframe frames[PYWALK_DEEPEST];
};

atomic_bool sampler_may_join;
__thread bool sampler_has_joined __attribute__((tls_model("initial-exec")));

static struct place *_Atomic places[MOST_PLACES];
static _Atomic int n_places;
static _Atomic bool running, stopping;
static uint64_t period_ns; /* 0: chores only */
static void (*chore)(void);
static pthread_t sampling_thread;
static pthread_key_t at_thread_exit;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* starting and stopping */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t ns_of(clockid_t clock, bool *ret_there)
{
    struct timespec t;
    *ret_there = clock_gettime(clock, &t) == 0;
    return *ret_there ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

static void read_frames(struct place *p, struct reading *ret)
{
    ret->n = pywalk_any(pystack_api(), p->tstate, &p->walk_memo, ret->frames, PYWALK_DEEPEST);
    ret->outermost = p->walk_memo.outermost;
}

/* How many of the outermost frames of `b` are in `a` too. A function that has gone on to another
 * instruction is the last one that is: what it called before and calls now are different calls. */
static int agreed(const struct reading *a, const struct reading *b)
{
    int n = 0;
    while (n < a->n && n < b->n) {
        const struct pyframe *x = &a->frames[a->n - 1 - n], *y = &b->frames[b->n - 1 - n];
        if (x->code != y->code) break;
        n++;
        if (x->offset != y->offset) break;
    }
    return n;
}

/* All stacks of a thread end at the same frame for long. One that ends elsewhere was cut off where
 * the thread moved, unless the next one ends there too. */
static bool ends_right(struct place *p, const struct reading *a, const struct reading *b)
{
    uintptr_t end = b->outermost, *of = p->outermost;
    if (!end || a->outermost != end) return !end && !a->outermost;
    if (end != of[0] && end == of[1]) of[0] = end;
    of[1] = end;
    return end == of[0];
}

/* Reads until two readings have come off; false when the thread moves too fast. */
static bool read_twice(struct place *p, struct reading *first, struct reading *second)
{
    enum { TRIES = 8 };
    int n = 0;
    for (int i = 0; i < TRIES && n < 2; i++) {
        struct reading *r = n ? second : first;
        read_frames(p, r);
        n += r->n > 0;
    }
    return n == 2;
}

/* The stack of a thread that is moving, 0 when nothing of it holds still. */
static uint32_t moving_stack(struct place *p, uint64_t *ret_ticks)
{
    static struct reading first, second; /* the sampling thread's */
    bool read = read_twice(p, &first, &second);
    *ret_ticks = clock_ticks(recorder_clock());
    int n = read && ends_right(p, &first, &second) ? agreed(&first, &second) : 0;
    if (!n) return 0;
    if (n < second.n) n++; /* what that one is calling just now: short calls have their share too */
    const struct pyframe *outer = second.frames + (second.n - n);
    return pytable_find(pystack_api(), &p->stack_memo, outer, n, false);
}

/* Of one that does not run until it was read; 0 if it runs. */
static uint32_t standing_stack(struct place *p, uint64_t *ret_ticks)
{
    static struct reading only;
    bool there;
    *ret_ticks = clock_ticks(recorder_clock());
    read_frames(p, &only);
    if (!only.n || ns_of(p->cpu_clock, &there) != p->cpu_ns || !there) return 0;
    return pytable_find(pystack_api(), &p->stack_memo, only.frames, only.n, false);
}

static void record(const struct place *p, uint32_t stack, uint64_t ticks)
{
    struct ring_record r = {.kind = RING_STACK_OF, .ticks = ticks};
    if (stack) recorder_put(ring_with_id(r, stack), (uint64_t)atomic_load(&p->tid));
}

/* It runs again: a thread that stood for long is seen there at the end as well. */
static void end_standing(struct place *p)
{
    if (p->standing && p->standing_to != p->standing_from) record(p, p->standing, p->standing_to);
    p->standing = 0;
}

/* One look at one thread. Two readings of its CPU clock show whether it is running now. */
static void look(struct place *p)
{
    bool there;
    uint64_t ticks, before = ns_of(p->cpu_clock, &there);
    if (!there) return;
    bool ran = before != p->cpu_ns;
    p->cpu_ns = ns_of(p->cpu_clock, &there);
    bool runs = p->cpu_ns != before;
    if (ran || runs) end_standing(p);
    if (runs) {
        uint32_t stack = moving_stack(p, &ticks);
        record(p, stack, ticks);
    } else if (p->standing) {
        p->standing_to = clock_ticks(recorder_clock());
    } else {
        p->standing = standing_stack(p, &ticks);
        p->standing_from = p->standing_to = ticks;
        record(p, p->standing, ticks);
    }
}

static struct place *place_at(int i)
{
    struct place *p = atomic_load_explicit(&places[i], memory_order_acquire);
    return p && atomic_load_explicit(&p->tid, memory_order_acquire) ? p : NULL;
}

/* A thread that ends waits for us to look away. */
static void take_samples(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; pystack_api() && i < atomic_load(&n_places); i++) {
        struct place *p = place_at(i);
        if (p) look(p);
    }
    pthread_mutex_unlock(&lock);
}

static void sleep_until(struct timespec *when, uint64_t ns)
{
    when->tv_nsec += (long)ns;
    while (when->tv_nsec >= 1000000000) {
        when->tv_nsec -= 1000000000;
        when->tv_sec++;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > when->tv_sec || (now.tv_sec == when->tv_sec && now.tv_nsec > when->tv_nsec))
        *when = now; /* late: no hurry to catch up */
    else clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, when, NULL);
}

static void *sample(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "strata-sampler");
    uint64_t pace = period_ns ? period_ns : CHORES_EVERY_NS, since_chores = 0;
    struct timespec when;
    clock_gettime(CLOCK_MONOTONIC, &when);
    while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
        if (period_ns) take_samples();
        since_chores += pace;
        if (since_chores >= CHORES_EVERY_NS) {
            since_chores = 0;
            if (chore) chore();
        }
        sleep_until(&when, pace);
    }
    return NULL;
}

static void take(void)
{
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* The sampling thread is the parent's: nobody is watched here. */
static void leave_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&life, NULL);
    atomic_store(&running, false);
    atomic_store(&sampler_may_join, false);
    atomic_store(&n_places, 0);
    sampler_has_joined = false;
}

/* The next thread that is watched gets the place. This one stays joined: it makes no more calls of
 * Python's. */
static void thread_exits(void *place)
{
    struct place *p = place;
    pthread_mutex_lock(&lock);
    atomic_store(&p->tid, 0);
    pthread_mutex_unlock(&lock);
}

static void prepare(void)
{
    pytable_prepare(); /* at fork our lock is taken before that of the table */
    pthread_key_create(&at_thread_exit, thread_exits);
    pthread_atfork(take, leave, leave_in_child);
}

static int start_thread(struct err *e)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are not for our thread */
    int error = pthread_create(&sampling_thread, NULL, sample, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error ? FAIL(e, ERR_IO, "cannot start the sampling thread") : 0;
}

/* With `life` held. */
static int start(const struct sampler_options *o, struct err *e)
{
    if (atomic_exchange(&running, true)) return 0;
    chore = o->chore;
    period_ns = o->samples_a_second ? 1000000000u / o->samples_a_second : 0;
    atomic_store(&stopping, false);
    int rc = start_thread(e);
    if (rc < 0) {
        atomic_store(&running, false);
        return rc;
    }
    atomic_store(&sampler_may_join, period_ns > 0);
    char fact[48];
    snprintf(fact, sizeof fact, "sample_period_us=%llu", (unsigned long long)period_ns / 1000);
    if (period_ns) defs_id(DEF_FACT, str_c(fact));
    return 0;
}

int sampler_start(const struct sampler_options *o, struct err *e)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&life);
    int rc = start(o, e);
    pthread_mutex_unlock(&life);
    return rc;
}

/* With `life` held. */
static void stop(void)
{
    if (!atomic_load(&running)) return;
    atomic_store_explicit(&stopping, true, memory_order_release);
    pthread_join(sampling_thread, NULL);
    atomic_store(&running, false);
    atomic_store(&sampler_may_join, false);
    for (int i = 0; i < atomic_load(&n_places); i++) {
        struct place *p = place_at(i);
        if (p) end_standing(p);
    }
}

void sampler_stop(void)
{
    pthread_mutex_lock(&life);
    stop();
    pthread_mutex_unlock(&life);
}

/* A place nobody has; NULL when there is none. With the lock held. */
static struct place *free_place(void)
{
    int n = atomic_load(&n_places);
    for (int i = 0; i < n; i++) {
        struct place *p = atomic_load(&places[i]);
        if (!atomic_load(&p->tid)) return p;
    }
    if (n >= MOST_PLACES) return NULL;
    struct place *p = atomic_load(&places[n]);
    if (!p && !(p = mem_zalloc(1, sizeof *p))) return NULL;
    atomic_store(&places[n], p);
    atomic_store(&n_places, n + 1);
    return p;
}

void sampler_join(void)
{
    clockid_t cpu_clock;
    const struct pyapi *api = pystack_api();
    if (!api) return;
    sampler_has_joined = true; /* one that is not Python's need not ask again */
    void *tstate = api->this_thread_state();
    if (!tstate || pthread_getcpuclockid(pthread_self(), &cpu_clock) != 0) return;
    pthread_mutex_lock(&lock);
    struct place *p = free_place();
    if (p) {
        p->tstate = (uintptr_t)tstate;
        p->cpu_clock = cpu_clock;
        p->stack_memo.n = p->walk_memo.n = 0;
        p->walk_memo.holder = p->outermost[0] = p->outermost[1] = 0;
        p->standing = 0;
        atomic_store(&p->tid, (int)syscall(SYS_gettid));
        pthread_setspecific(at_thread_exit, p);
    }
    pthread_mutex_unlock(&lock);
}
