/* pyread.c: see pyread.h. */
#include "backend/program/pyread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic pid_t known_pid; /* asking costs as much as reading */

static pid_t this_process(void)
{
    pid_t pid = atomic_load_explicit(&known_pid, memory_order_relaxed);
    return pid ? pid : getpid();
}

bool pyread(void *to, uintptr_t from, size_t n)
{
    int before = errno; /* ours must not show in the program */
    struct iovec into = {to, n}, of = {(void *)from, n};
    ssize_t got = process_vm_readv(this_process(), &into, 1, &of, 1, 0);
    errno = before;
    return got == (ssize_t)n;
}

/* Never across the end of a page that the text may not cross either. */
size_t pyread_text(char *to, uintptr_t from, size_t cap)
{
    enum { PIECE = 64 };
    size_t n = 0;
    while (n + 1 < cap) {
        size_t piece = PIECE - (from + n) % PIECE;
        if (piece > cap - 1 - n) piece = cap - 1 - n;
        if (!pyread(to + n, from + n, piece)) break;
        size_t text = strnlen(to + n, piece);
        n += text;
        if (text < piece) break;
    }
    to[n] = 0;
    return n;
}

int pyread_each(void *to, const uintptr_t *from, const size_t *n_bytes, int n)
{
    int before = errno, n_read = 0;
    struct iovec of[PYREAD_MOST], into = {to, 0};
    if (n > PYREAD_MOST) n = PYREAD_MOST;
    for (int i = 0; i < n; i++) {
        of[i] = (struct iovec){(void *)from[i], n_bytes[i]};
        into.iov_len += n_bytes[i];
    }
    ssize_t got = n ? process_vm_readv(this_process(), &into, 1, of, (unsigned long)n, 0) : 0;
    errno = before;
    for (; n_read < n && got >= (ssize_t)n_bytes[n_read]; n_read++) got -= (ssize_t)n_bytes[n_read];
    return n_read;
}

static void note_process(void)
{
    atomic_store(&known_pid, getpid());
}

static void pyread_prepare(void)
{
    if (pthread_atfork(NULL, NULL, note_process) == 0) note_process();
}

bool pyread_works(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, pyread_prepare);
    static const char word[8] = "strata";
    char copy[8];
    return pyread(copy, (uintptr_t)word, sizeof copy) && !pyread(copy, 8, sizeof copy);
}
