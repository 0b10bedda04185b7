/* io_faults.c: see io_faults.h. */
#include "torture/io_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long n_calls, fail_at;
static enum io_fault fault;

const char *io_fault_name(enum io_fault f)
{
    static const char *const names[] = {"EIO", "ENOSPC", "a short write", "ENOSPC from there on"};
    return names[f];
}

void io_fail_at(long n, enum io_fault f)
{
    fault = f;
    atomic_store(&fail_at, n);
    atomic_store(&n_calls, 0);
}

long io_count(void)
{
    return atomic_load(&n_calls);
}

/* Whether this call fails; sets errno. */
static bool fails(void)
{
    long n = atomic_fetch_add(&n_calls, 1) + 1, at = atomic_load(&fail_at);
    bool lasts = fault == IO_FULL_NOW || fault == IO_SHORT;
    if (!at || n < at || (n > at && !lasts)) return false;
    errno = fault == IO_ERROR ? EIO : ENOSPC;
    return true;
}

static bool is_short(void)
{
    return fault == IO_SHORT && atomic_load(&n_calls) == atomic_load(&fail_at);
}

#define WRAP(type, name, ...)        \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return fails() ? -1 : __real_open64(path, flags, mode);
}

WRAP(ssize_t, write, int fd, const void *p, size_t n)
{
    if (!fails()) return __real_write(fd, p, n);
    return is_short() && n > 1 ? __real_write(fd, p, n / 2) : -1;
}

WRAP(ssize_t, pwrite64, int fd, const void *p, size_t n, off_t at)
{
    if (!fails()) return __real_pwrite64(fd, p, n, at);
    return is_short() && n > 1 ? __real_pwrite64(fd, p, n / 2, at) : -1;
}

WRAP(void *, mmap64, void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap64(at, n, prot, flags, fd, offset);
}

WRAP(int, rename, const char *from, const char *to)
{
    return fails() ? -1 : __real_rename(from, to);
}

WRAP(int, mkdir, const char *path, mode_t mode)
{
    return fails() ? -1 : __real_mkdir(path, mode);
}

WRAP(int, fsync, int fd)
{
    return fails() ? -1 : __real_fsync(fd);
}

WRAP(int, ftruncate64, int fd, off_t n)
{
    return fails() ? -1 : __real_ftruncate64(fd, n);
}

/* Returns its error. */
WRAP(int, posix_fallocate64, int fd, off_t at, off_t n)
{
    return fails() ? errno : __real_posix_fallocate64(fd, at, n);
}
