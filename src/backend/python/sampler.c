/* sampler.c: see sampler.h.
 *
 * A watched thread has a place, which both it and the sampling thread know. Its turn is set first;
 * if it does not take it within GRACE_NS, the place is set to ASKED and the signal sent; the
 * handler fills the place with raw frames and sets it to FILLED; the sampling thread takes them at
 * its next look. Places are never freed, only used again, so that a late signal finds memory that
 * is ours. */
#include "backend/python/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/python/pystack.h"
#include "backend/python/pytable.h"
#include "base/mem.h"
#include "record/defs.h"
#include "record/recorder.h"

enum { SIGNAL = SIGURG, MOST_PLACES = 256, CHORES_EVERY_NS = 50000000, GRACE_NS = 60000 };

enum phase { EMPTY, ASKED, FILLED };

struct place {
    _Atomic int tid; /* 0: nobody's */
    _Atomic enum phase phase;
    atomic_bool turn; /* it is to note its stack when it comes by */
    uintptr_t tstate;
    clockid_t cpu_clock;

    /* written by the handler between ASKED and FILLED, else by the sampling thread */
    struct pywalk_memo walk_memo;
    struct pyframe frames[PYWALK_DEEPEST];
    int n_frames;
    uint64_t ticks;

    /* the sampling thread's own */
    struct pytable_memo stack_memo;
    uint64_t cpu_ns;         /* of the thread, at the last look */
    uint32_t standing;       /* the stack it stands at, 0 when it ran since */
    uint64_t standing_ticks; /* when it was last found there */
};

/* What threads without a place look at: whether there is a sampler that would give them one, and
 * never, for those that are not Python's. */
static atomic_bool may_join, never;
__thread const atomic_bool *sampler_turn __attribute__((tls_model("initial-exec"))) = &may_join;
static __thread struct place *mine __attribute__((tls_model("initial-exec")));

static struct place *_Atomic places[MOST_PLACES];
static _Atomic int n_places;
static _Atomic bool running, stopping;
static bool may_signal;
static uint64_t period_ns; /* 0: chores only */
static void (*chore)(void);
static pthread_t sampling_thread;
static pthread_key_t at_thread_exit;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* starting and stopping */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Takes no lock, allocates nothing, keeps errno (pyread does). */
static void on_signal(int signal)
{
    (void)signal;
    struct place *p = mine;
    const struct pyapi *api = pystack_api();
    if (!p || !api || atomic_load_explicit(&p->phase, memory_order_acquire) != ASKED) return;
    p->ticks = clock_ticks(recorder_clock());
    p->n_frames = pywalk_any(api, p->tstate, &p->walk_memo, p->frames, PYWALK_DEEPEST);
    atomic_store_explicit(&p->phase, FILLED, memory_order_release);
}

/* Ours only where nobody handles the signal, and only as long as nobody else does. */
static bool signal_is_ours(void)
{
    struct sigaction now;
    return sigaction(SIGNAL, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == on_signal;
}

static bool take_signal(void)
{
    struct sigaction old, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGNAL, NULL, &old) != 0) return false;
    if ((old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL) return false;
    return sigaction(SIGNAL, &ours, NULL) == 0;
}

static uint64_t ns_of(clockid_t clock, bool *ret_there)
{
    struct timespec t;
    *ret_there = clock_gettime(clock, &t) == 0;
    return *ret_there ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

static uint32_t stack_of(struct place *p)
{
    const struct pyapi *api = pystack_api();
    if (!api || !p->n_frames) return 0;
    return pytable_find(api, &p->stack_memo, p->frames, p->n_frames, false);
}

static void record(const struct place *p, uint32_t stack, uint64_t ticks)
{
    struct ring_record r = {.kind = RING_STACK_OF, .ticks = ticks};
    if (stack) recorder_put(ring_with_id(r, stack), (uint64_t)atomic_load(&p->tid));
}

/* Reads a thread from outside; what was read counts if its clock stood still meanwhile. */
static void read_standing(struct place *p)
{
    bool there;
    p->ticks = clock_ticks(recorder_clock());
    p->n_frames = pywalk_any(pystack_api(), p->tstate, &p->walk_memo, p->frames, PYWALK_DEEPEST);
    if (ns_of(p->cpu_clock, &there) != p->cpu_ns || !there) return;
    p->standing = stack_of(p);
    p->standing_ticks = p->ticks;
    record(p, p->standing, p->ticks);
}

/* It runs again: a thread that stood for long is seen there at the end as well. */
static void end_standing(struct place *p)
{
    if (p->standing && p->standing_ticks != p->ticks) record(p, p->standing, p->standing_ticks);
    p->standing = 0;
}

static void ask(struct place *p)
{
    if (!may_signal) return;
    if (!signal_is_ours()) {
        may_signal = false;
        return;
    }
    atomic_store_explicit(&p->phase, ASKED, memory_order_release);
    if (syscall(SYS_tgkill, getpid(), atomic_load(&p->tid), SIGNAL) != 0)
        atomic_store_explicit(&p->phase, EMPTY, memory_order_release);
}

/* One look at one thread. Two readings of its CPU clock tell whether it is running now; true when
 * it was given its turn. */
static bool look(struct place *p)
{
    enum phase phase = atomic_load_explicit(&p->phase, memory_order_acquire);
    if (phase == FILLED) {
        record(p, stack_of(p), p->ticks);
        atomic_store_explicit(&p->phase, EMPTY, memory_order_release);
    } else if (phase == ASKED) {
        /* It blocks signals, or was put to sleep before it got ours: its place is its own until it
         * answers. */
        return false;
    }
    bool there;
    uint64_t before = ns_of(p->cpu_clock, &there);
    if (!there) return false;
    bool ran = before != p->cpu_ns;
    p->cpu_ns = ns_of(p->cpu_clock, &there);
    if (ran || p->cpu_ns != before) end_standing(p);
    bool running_now = p->cpu_ns != before;
    if (!running_now && !p->standing) read_standing(p);
    else if (!running_now) p->standing_ticks = clock_ticks(recorder_clock());
    atomic_store_explicit(&p->turn, running_now, memory_order_release);
    return running_now;
}

static struct place *place_at(int i)
{
    struct place *p = atomic_load_explicit(&places[i], memory_order_acquire);
    return p && atomic_load_explicit(&p->tid, memory_order_acquire) ? p : NULL;
}

/* Whether some thread was given its turn. With the lock held. */
static bool look_at_all(void)
{
    bool any = false;
    for (int i = 0; pystack_api() && i < atomic_load(&n_places); i++) {
        struct place *p = place_at(i);
        if (p) any |= look(p);
    }
    return any;
}

/* Signals those that did not come by. With the lock held. */
static void ask_the_rest(void)
{
    for (int i = 0; i < atomic_load(&n_places); i++) {
        struct place *p = place_at(i);
        if (p && atomic_exchange(&p->turn, false)) ask(p);
    }
}

/* A thread that ends waits for us to look away. */
static void take_samples(void)
{
    pthread_mutex_lock(&lock);
    bool any = look_at_all();
    pthread_mutex_unlock(&lock);
    if (!any) return;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, GRACE_NS}, NULL);
    pthread_mutex_lock(&lock);
    ask_the_rest();
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
    atomic_store(&may_join, false);
    atomic_store(&n_places, 0);
    mine = NULL;
    sampler_turn = &may_join;
}

/* The next thread that is watched gets the place. A signal that is still on its way finds no place
 * and does nothing. */
static void thread_exits(void *place)
{
    struct place *p = place;
    mine = NULL;
    sampler_turn = &never;
    pthread_mutex_lock(&lock);
    atomic_store(&p->phase, EMPTY);
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
    return error ? FAIL(e, ERR_IO, "no thread for sampling can be started") : 0;
}

/* With `life` held. */
static int start(const struct sampler_options *o, struct err *e)
{
    if (atomic_exchange(&running, true)) return 0;
    chore = o->chore;
    period_ns = o->samples_a_second ? 1000000000u / o->samples_a_second : 0;
    atomic_store(&stopping, false);
    may_signal = period_ns && (signal_is_ours() || take_signal());
    int rc = start_thread(e);
    if (rc < 0) {
        atomic_store(&running, false);
        return rc;
    }
    atomic_store(&may_join, period_ns > 0);
    if (period_ns && !may_signal)
        return FAIL(e, ERR_UNSUPPORTED,
                    "the program handles SIGURG itself: threads are sampled only where they wait");
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
    atomic_store(&may_join, false);
    for (int i = 0; i < atomic_load(&n_places); i++) {
        struct place *p = place_at(i);
        if (p) end_standing(p);
        if (p) atomic_store(&p->turn, false);
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

static void join(const struct pyapi *api)
{
    clockid_t cpu_clock;
    void *tstate = api->this_thread_state();
    sampler_turn = &never;
    if (!tstate || pthread_getcpuclockid(pthread_self(), &cpu_clock) != 0) return;
    pthread_mutex_lock(&lock);
    struct place *p = free_place();
    if (p) {
        p->tstate = (uintptr_t)tstate;
        p->cpu_clock = cpu_clock;
        p->stack_memo.n = p->walk_memo.n = 0;
        p->standing = 0;
        mine = p;
        sampler_turn = &p->turn;
        atomic_store(&p->tid, (int)syscall(SYS_gettid));
        pthread_setspecific(at_thread_exit, p);
    }
    pthread_mutex_unlock(&lock);
}

void sampler_take_turn(void)
{
    const struct pyapi *api = pystack_api();
    if (!api) return;
    if (!mine) join(api);
    else if (atomic_exchange(&mine->turn, false))
        record(mine, pystack_now(), clock_ticks(recorder_clock()));
}
