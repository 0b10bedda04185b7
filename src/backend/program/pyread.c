/* pyread.c: see pyread.h. */
#include "backend/program/pyread.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

bool pyread(void *to, uintptr_t from, size_t n)
{
    int before = errno; /* ours must not show in the program */
    struct iovec into = {to, n}, of = {(void *)from, n};
    ssize_t got = process_vm_readv(getpid(), &into, 1, &of, 1, 0);
    errno = before;
    return got == (ssize_t)n;
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
    ssize_t got = n ? process_vm_readv(getpid(), &into, 1, of, (unsigned long)n, 0) : 0;
    errno = before;
    for (; n_read < n && got >= (ssize_t)n_bytes[n_read]; n_read++) got -= (ssize_t)n_bytes[n_read];
    return n_read;
}

bool pyread_works(void)
{
    static const char word[8] = "strata";
    char copy[8];
    return pyread(copy, (uintptr_t)word, sizeof copy) && !pyread(copy, 8, sizeof copy);
}
