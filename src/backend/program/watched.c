/* watched.c: see watched.h. */
#include "backend/program/watched.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/program/pystack.h"
#include "base/mem.h"
#include "record/recorder.h"

enum { MOST_PLACES = 256 };

_Atomic uint64_t watched_period;
atomic_bool watched_open;
__thread bool watched_joined __attribute__((tls_model("initial-exec")));
__thread struct watched *watched_me __attribute__((tls_model("initial-exec")));

static struct watched *_Atomic places[MOST_PLACES];
static _Atomic int n_places;
static pthread_key_t at_thread_exit;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void watched_hold(void)
{
    pthread_mutex_lock(&lock);
}

void watched_release(void)
{
    pthread_mutex_unlock(&lock);
}

/* The sampling thread is the parent's: no thread of this process is watched. */
static void release_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&watched_open, false);
    atomic_store(&n_places, 0);
    watched_joined = false;
    watched_me = NULL;
}

/* The next thread that is watched gets the place. This one stays joined: it makes no more calls of
 * Python's. */
static void watched_thread_exits(void *place)
{
    struct watched *w = place;
    watched_me = NULL;
    pthread_mutex_lock(&lock);
    atomic_store(&w->tid, 0);
    pthread_mutex_unlock(&lock);
}

static void watched_do_prepare(void)
{
    pytable_prepare(); /* at fork our lock is taken before that of the table */
    pthread_key_create(&at_thread_exit, watched_thread_exits);
    pthread_atfork(watched_hold, watched_release, release_in_child);
}

void watched_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watched_do_prepare);
}

void watched_begin(uint64_t period_ticks)
{
    atomic_store(&watched_period, period_ticks);
    atomic_store(&watched_open, true);
}

void watched_end(void)
{
    atomic_store(&watched_open, false);
}

int watched_count(void)
{
    return atomic_load(&n_places);
}

struct watched *watched_at(int i)
{
    struct watched *w = atomic_load_explicit(&places[i], memory_order_acquire);
    return w && atomic_load_explicit(&w->tid, memory_order_acquire) ? w : NULL;
}

/* A free place; NULL when there is none. The caller holds the lock. */
static struct watched *free_place(void)
{
    int n = atomic_load(&n_places);
    for (int i = 0; i < n; i++) {
        struct watched *w = atomic_load(&places[i]);
        if (!atomic_load(&w->tid)) return w;
    }
    if (n >= MOST_PLACES) return NULL;
    struct watched *w = atomic_load(&places[n]);
    if (!w && !(w = mem_zalloc(1, sizeof *w))) return NULL;
    atomic_store(&places[n], w);
    atomic_store(&n_places, n + 1);
    return w;
}

static void watched_settle(struct watched *w, uintptr_t tstate, clockid_t cpu_clock)
{
    w->tstate = tstate;
    w->cpu_clock = cpu_clock;
    w->stack_memo.n = w->walk_memo.n = 0;
    w->walk_memo.holder = w->outermost[0] = w->outermost[1] = 0;
    w->standing = w->stood = w->skip = 0;
    w->gil_at = 0;
    atomic_store(&w->due, 0);
    atomic_store(&w->in_call, 0);
    atomic_store(&w->tid, (int)syscall(SYS_gettid));
    pthread_setspecific(at_thread_exit, w);
    watched_me = w;
}

void watched_join(void)
{
    clockid_t cpu_clock;
    const struct pyapi *api = pystack_api();
    if (!api) return;
    watched_joined = true; /* one that is not Python's need not ask again */
    void *tstate = api->this_thread_state();
    if (!tstate || pthread_getcpuclockid(pthread_self(), &cpu_clock) != 0) return;
    pthread_mutex_lock(&lock);
    struct watched *w = free_place();
    if (w) watched_settle(w, (uintptr_t)tstate, cpu_clock);
    pthread_mutex_unlock(&lock);
}

/* When to read next, in ticks, after a reading that took `ticks`. */
static uint64_t next_period(uint64_t took)
{
    uint64_t period = atomic_load_explicit(&watched_period, memory_order_relaxed);
    uint64_t wanted = took * WATCHED_PARTS, most = period * WATCHED_MOST_PERIODS;
    if (wanted < period) return period;
    return wanted < most ? wanted : most;
}

void watched_read(uint64_t ticks)
{
    struct watched *w = watched_me;
    if (!atomic_load_explicit(&watched_open, memory_order_relaxed)) return;
    uint32_t stack = pystack_now();
    uint64_t now = clock_ticks(recorder_clock());
    watched_wait_until(ticks + next_period(now > ticks ? now - ticks : 0));
    if (!stack) return;
    struct ring_record r = {.kind = RING_STACK_OF, .ticks = ticks};
    recorder_put(ring_with_id(r, stack),
                 (uint64_t)atomic_load_explicit(&w->tid, memory_order_relaxed));
}
