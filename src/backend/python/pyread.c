/* pyread.c: see pyread.h. */
#include "backend/python/pyread.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

bool pyread(void *to, uintptr_t from, size_t n)
{
    int before = errno; /* ours must not show in the program a handler interrupts */
    struct iovec into = {to, n}, of = {(void *)from, n};
    ssize_t got = process_vm_readv(getpid(), &into, 1, &of, 1, 0);
    errno = before;
    return got == (ssize_t)n;
}

int pyread_each(void *to, const uintptr_t *from, int n_pieces, size_t piece_bytes)
{
    int before = errno;
    struct iovec of[PYREAD_MOST];
    if (n_pieces > PYREAD_MOST) n_pieces = PYREAD_MOST;
    for (int i = 0; i < n_pieces; i++) of[i] = (struct iovec){(void *)from[i], piece_bytes};
    struct iovec into = {to, (size_t)n_pieces * piece_bytes};
    ssize_t got = process_vm_readv(getpid(), &into, 1, of, (unsigned long)n_pieces, 0);
    errno = before;
    return got < 0 ? 0 : (int)((size_t)got / piece_bytes);
}

bool pyread_works(void)
{
    static const char word[8] = "strata";
    char copy[8];
    return pyread(copy, (uintptr_t)word, sizeof copy) && !pyread(copy, 8, sizeof copy);
}
