/* guard.c: see guard.h. */
#include "record/guard.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static void (*in_unseen_child)(void);
static atomic_int process; /* whose memory this is; negative while a child makes it its own */
static __thread bool being_born __attribute__((tls_model("initial-exec")));

void guard_watch_forks(void (*in_child)(void))
{
    in_unseen_child = in_child;
    guard_forked();
}

void guard_forked(void)
{
    atomic_store(&process, getpid());
}

static void see_fork(void)
{
    int me = getpid(), known = atomic_load(&process);
    if (known == me || known == 0 || being_born) return;
    if (known != -me && atomic_compare_exchange_strong(&process, &known, -me)) {
        being_born = true;
        in_unseen_child();
        being_born = false;
    }
    while (atomic_load(&process) != me) sched_yield(); /* another thread is at it */
}

/* Signals that say what this very instruction did cannot wait. */
static void most_signals(sigset_t *ret)
{
    static const int never[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(ret);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) sigdelset(ret, never[i]);
}

void guard_enter(struct guard *g, pthread_mutex_t *lock)
{
    sigset_t most;
    most_signals(&most);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel);
    pthread_sigmask(SIG_BLOCK, &most, &g->mask);
    see_fork();
    if (lock) pthread_mutex_lock(lock);
}

void guard_leave(const struct guard *g, pthread_mutex_t *lock)
{
    if (lock) pthread_mutex_unlock(lock);
    pthread_sigmask(SIG_SETMASK, &g->mask, NULL);
    pthread_setcancelstate(g->cancel, NULL);
}
