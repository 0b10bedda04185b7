/* shield.c: see guard.h. A slot is taken and given back with one store each, so that the handler,
 * which may come at any moment and on any thread, sees it whole or not at all. */
#include "record/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

enum { MOST = 4096 + 64 };
enum { FREE, BEING_TAKEN }; /* instead of an address */

static struct {
    atomic_uintptr_t begin;
    atomic_size_t n;
} windows[MOST];
static atomic_uint next_free; /* where to look first */
static atomic_bool hit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool shield_take_place(uintptr_t at)
{
    for (int i = 0; i < MOST; i++) {
        uintptr_t begin = atomic_load(&windows[i].begin);
        size_t n = atomic_load(&windows[i].n);
        if (begin <= BEING_TAKEN || at < begin || at - begin >= n) continue;
        return mmap((void *)begin, n, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
}

/* What is not ours ends as it would have without Strata, at the same instruction. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)context;
    if (info->si_code > 0 && shield_take_place((uintptr_t)info->si_addr)) {
        atomic_store(&hit, true);
    } else {
        signal(number, SIG_DFL);
        if (info->si_code <= 0) raise(number); /* sent by a process, not raised by an instruction */
    }
    errno = error;
}

static void shield_install(void)
{
    struct sigaction now,
        ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL)
        sigaction(SIGBUS, &ours, NULL);
}

void shield_add(void *p, size_t n)
{
    pthread_once(&once, shield_install);
    unsigned first = atomic_load(&next_free);
    for (unsigned i = 0; i < MOST; i++) {
        unsigned slot = (first + i) % MOST;
        uintptr_t none = FREE;
        if (!atomic_compare_exchange_strong(&windows[slot].begin, &none, BEING_TAKEN)) continue;
        atomic_store(&windows[slot].n, n);
        atomic_store(&windows[slot].begin, (uintptr_t)p);
        atomic_store(&next_free, slot + 1);
        return;
    }
}

void shield_remove(const void *p)
{
    for (unsigned i = 0; i < MOST; i++) {
        if (atomic_load(&windows[i].begin) != (uintptr_t)p) continue;
        atomic_store(&windows[i].begin, FREE);
        atomic_store(&next_free, i);
        return;
    }
}

void shield_forget(void)
{
    for (unsigned i = 0; i < MOST; i++) atomic_store(&windows[i].begin, FREE);
}

bool shield_was_hit(void)
{
    return atomic_load(&hit);
}
