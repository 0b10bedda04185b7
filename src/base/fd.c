/* fd.c: see fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Takes the free numbers up to 2, so that the next descriptor is above them. Neither reading from
 * nor writing to what stands there works, as if it were closed. */
static int take_low(int taken[3])
{
    int n = 0;
    while (n < 3) {
        int fd = open("/", O_PATH | O_CLOEXEC);
        if (fd < 0) break;
        if (fd > 2) {
            close(fd);
            break;
        }
        taken[n++] = fd;
    }
    return n;
}

static int any_low_is_free(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0) return 1;
    return 0;
}

int fd_open(const char *path, int flags, mode_t mode)
{
    int taken[3], n = any_low_is_free() ? take_low(taken) : 0;
    int fd = open(path, flags | O_CLOEXEC, mode);
    int error = errno;
    if (fd >= 0 && fd <= 2) { /* one was closed just now */
        int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        error = errno;
        close(fd);
        fd = high;
    }
    while (n > 0) close(taken[--n]);
    errno = error;
    return fd;
}

void fd_fill_standard(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        int got = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); /* using it fails, as before */
        if (got < 0) return;
    }
}
