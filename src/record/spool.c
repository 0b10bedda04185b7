/* spool.c: see spool.h. */
#include "record/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "record/guard.h"

#define WINDOW ((size_t)64 << 10)

int tail_write(struct tail *t, const void *p, size_t n, uint64_t at, struct err *e)
{
    for (size_t done = 0; done < n;) {
        uint64_t window_at = (at + done) / WINDOW * WINDOW;
        if (!t->window || t->window_at != window_at) {
            void *next;
            TRY(spool_map(t->file, window_at, WINDOW, &next, e));
            spool_unmap(t->window, WINDOW);
            t->window = next;
            t->window_at = window_at;
        }
        size_t into = (size_t)(at + done - window_at);
        size_t piece = n - done < WINDOW - into ? n - done : WINDOW - into;
        memcpy(t->window + into, (const char *)p + done, piece);
        done += piece;
    }
    return 0;
}

void tail_done(struct tail *t)
{
    spool_unmap(t->window, WINDOW);
    *t = (struct tail){0};
}

static int spool_fail(struct spool *s, int error, const char *what, struct err *e)
{
    err_at(e, s->path, ERR_NO_OFFSET);
    return FAIL(e, ERR_IO, "%s: %s", what, strerror(error));
}

int spool_create(struct spool *s, const char *path, struct err *e)
{
    s->dev = s->ino = s->size_bytes = 0;
    if (path != s->path && (size_t)snprintf(s->path, sizeof s->path, "%s", path) >= sizeof s->path)
        return FAIL(e, ERR_LIMIT, "the path of the run folder is too long");
    int fd = fd_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    struct stat st = {0};
    int error = 0;
    if (fd < 0 || fstat(fd, &st) < 0) error = errno;
    if (fd >= 0) close(fd);
    s->dev = st.st_dev;
    s->ino = st.st_ino;
    if (!error) return 0;
    int rc = spool_fail(s, error, "cannot create", e);
    spool_done(s);
    return rc;
}

void spool_done(struct spool *s)
{
    s->path[0] = 0;
    s->dev = s->ino = s->size_bytes = 0;
}

/* Only the file we made: its folder may have been removed and another put in its place. */
static int spool_reopen(struct spool *s, int *ret_fd, struct err *e)
{
    int fd = fd_open(s->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0) return spool_fail(s, errno, "cannot open again", e);
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_dev != s->dev || st.st_ino != s->ino) {
        close(fd);
        return spool_fail(s, ESTALE, "is a different file now", e);
    }
    *ret_fd = fd;
    return 0;
}

static int check_limit(struct spool *s, uint64_t size, struct err *e)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        size > most.rlim_cur)
        return spool_fail(s, EFBIG, "cannot grow", e);
    return 0;
}

static int spool_allocate(struct spool *s, int fd, uint64_t size, struct err *e)
{
    if (size <= s->size_bytes) return 0;
    TRY(check_limit(s, size, e));
    int error;
    do {
        error = posix_fallocate(fd, (off_t)s->size_bytes, (off_t)(size - s->size_bytes));
    } while (error == EINTR);
    if (error) return spool_fail(s, error, "cannot grow", e);
    s->size_bytes = size;
    return 0;
}

static size_t into_page(uint64_t offset)
{
    return (size_t)(offset & (uint64_t)(sysconf(_SC_PAGESIZE) - 1));
}

int spool_map(struct spool *s, uint64_t offset, size_t n, void **ret_window, struct err *e)
{
    int fd;
    TRY(spool_reopen(s, &fd, e));
    int rc = spool_allocate(s, fd, offset + n, e);
    if (rc == 0) {
        size_t extra = into_page(offset);
        char *p =
            mmap(NULL, n + extra, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - extra));
        if (p == MAP_FAILED) {
            rc = spool_fail(s, errno, "cannot map", e);
        } else {
            shield_add(p, n + extra);
            *ret_window = p + extra;
        }
    }
    close(fd);
    return rc;
}

void spool_unmap(void *window, size_t n)
{
    if (!window) return;
    size_t extra = into_page((uintptr_t)window);
    shield_remove((char *)window - extra);
    munmap((char *)window - extra, n + extra);
}

int spool_write(struct spool *s, uint64_t offset, const void *p, size_t n, struct err *e)
{
    TRY(check_limit(s, offset + n, e));
    int fd;
    TRY(spool_reopen(s, &fd, e));
    int rc = 0;
    while (n && rc == 0) {
        ssize_t put = pwrite(fd, p, n, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            rc = spool_fail(s, put < 0 ? errno : ENOSPC, "cannot write", e);
            break;
        }
        p = (const char *)p + put;
        offset += (uint64_t)put;
        n -= (size_t)put;
    }
    close(fd);
    if (rc == 0 && offset > s->size_bytes) s->size_bytes = offset;
    return rc;
}
