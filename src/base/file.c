/* file.c: see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file_temps.h"
#include "base/mem.h"

#define OUT_BUFFER ((size_t)1 << 20)

static int fail_io(struct err *e, const char *path, const char *what)
{
    err_at(e, path, ERR_NO_OFFSET);
    return FAIL(e, ERR_IO, "%s: %s", what, strerror(errno));
}

static int file_read_all(struct file_map *f, int fd, const char *path, struct err *e)
{
    struct buf b;
    buf_init(&b);
    for (;;) {
        char *room = buf_room(&b, (b.n < (1 << 20) ? 1 << 16 : 1 << 24) + FILE_PADDING);
        if (!room) {
            int rc = FAIL(e, ERR_NOMEM, "out of memory after %zu bytes of input", b.n);
            buf_done(&b);
            return rc;
        }
        ssize_t got = read(fd, room, b.cap - b.n - 1 - FILE_PADDING);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int rc = fail_io(e, path, "cannot read");
            buf_done(&b);
            return rc;
        }
        if (got == 0) break;
        b.n += (size_t)got;
    }
    memset(b.p + b.n, 0, FILE_PADDING);
    *f = (struct file_map){b.p, b.n, false};
    return 0;
}

/* A mapping reads as zero up to the end of its last page; where that is too little, the file is
 * laid over a larger, empty mapping. */
static void *map_padded(int fd, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), slack = (page - n % page) % page;
    if (slack >= FILE_PADDING) return mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    void *room = mmap(NULL, n + FILE_PADDING, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return room;
    void *p = mmap(room, n, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
    if (p == MAP_FAILED) munmap(room, n + FILE_PADDING);
    return p;
}

static int file_refuse(const char *path, enum err_code code, const char *what, struct err *e)
{
    err_at(e, path, ERR_NO_OFFSET);
    return FAIL(e, code, "this is %s, expected a trace file", what);
}

/* A pipe may have a writer that only waits for us. Without one it would be read for ever, and a
 * device has no end at all. */
static int file_read_special(struct file_map *f, int fd, const struct stat *st, const char *path,
                             struct err *e)
{
    enum { PATIENCE_MS = 2000 };
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool is_null = S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
    bool flows = S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode) || isatty(fd);
    bool comes = !S_ISFIFO(st->st_mode) || poll(&p, 1, PATIENCE_MS) > 0;
    if ((!flows && !is_null) || !comes)
        return file_refuse(path, ERR_FORMAT, flows ? "a pipe that nothing writes to" : "a device",
                           e);
    (void)(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0);
    return file_read_all(f, fd, path, e);
}

static int file_map_fd(struct file_map *f, int fd, const struct stat *st, const char *path,
                       struct err *e)
{
    if (st->st_size == 0) return file_read_all(f, fd, path, e); /* /proc */
    void *p = map_padded(fd, (size_t)st->st_size);
    if (p == MAP_FAILED) return fail_io(e, path, "cannot map");
    *f = (struct file_map){p, (uint64_t)st->st_size, true};
    return 0;
}

static int file_open_and_map(struct file_map *f, const char *path, bool waits, struct err *e)
{
    int fd = fd_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0 && errno == ENOENT && strstr(path, "://")) {
        err_at(e, path, ERR_NO_OFFSET);
        return FAIL(e, ERR_IO, "an address, not a file: fetch it first and name the file");
    }
    if (fd < 0) return fail_io(e, path, "cannot open");
    struct stat st;
    int rc;
    if (fstat(fd, &st) < 0) rc = fail_io(e, path, "cannot stat");
    else if (S_ISDIR(st.st_mode)) rc = file_refuse(path, ERR_USAGE, "a directory", e);
    else if (S_ISREG(st.st_mode)) rc = file_map_fd(f, fd, &st, path, e);
    else if (waits) rc = file_read_special(f, fd, &st, path, e);
    else rc = file_refuse(path, ERR_FORMAT, "a pipe or a device", e);
    close(fd);
    return rc;
}

int file_map(struct file_map *f, const char *path, struct err *e)
{
    *f = (struct file_map){0};
    if (strcmp(path, "-") == 0) return file_read_all(f, STDIN_FILENO, path, e);
    return file_open_and_map(f, path, true, e);
}

int file_map_found(struct file_map *f, const char *path, struct err *e)
{
    *f = (struct file_map){0};
    return file_open_and_map(f, path, false, e);
}

void file_unmap(struct file_map *f)
{
    if (f->mapped) munmap((void *)(uintptr_t)f->p, f->n + FILE_PADDING);
    else mem_free((void *)(uintptr_t)f->p);
    *f = (struct file_map){0};
}

static int file_flush(struct file_out *f, const char *p, size_t n, struct err *e)
{
    while (n) {
        ssize_t put = write(f->fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_io(e, f->path, "cannot write");
        p += put;
        n -= (size_t)put;
    }
    return 0;
}

static int open_direct(struct file_out *f, struct err *e)
{
    bool is_stdout = strcmp(f->path, "-") == 0;
    f->fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : fd_open(f->path, O_WRONLY, 0);
    return f->fd < 0 ? fail_io(e, f->path, "cannot open") : 0;
}

/* A new file is no more open than the folder it is in. */
static mode_t mode_of_new(const char *path)
{
    char folder[PATH_MAX];
    struct stat st;
    if ((size_t)snprintf(folder, sizeof folder, "%s", path) >= sizeof folder) return 0600;
    char *end = strrchr(folder, '/');
    if (end) *(end == folder ? end + 1 : end) = 0;
    if (stat(end ? folder : ".", &st) < 0) return 0600;
    mode_t mode = 0666;
    if (!(st.st_mode & 0070)) mode &= ~(mode_t)0070;
    if (!(st.st_mode & 0007)) mode &= ~(mode_t)0007;
    return mode;
}

/* What takes the place of a file is as open as that was, and whose it was where that is ours to
 * say. */
static void keep_mode(int fd, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0) return;
    if (st.st_uid != geteuid() && fchown(fd, st.st_uid, st.st_gid) < 0) return;
    (void)(fchmod(fd, st.st_mode & 0777) == 0);
}

void file_temp_name(const char *path, char *out, size_t cap)
{
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    for (char *p = host; *p; p++)
        if (*p == '/') *p = '_';
    snprintf(out, cap, "%s.tmp%ld-%.40s", path, (long)getpid(), host);
}

/* The names that a signal would leave behind; those beyond are left, as by a kill. */
enum { MOST_TEMPS = 16 };
static _Atomic(const char *) file_temps[MOST_TEMPS];

static void file_note_temp(const char *temp)
{
    for (int i = 0; i < MOST_TEMPS; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&file_temps[i], &none, temp)) return;
    }
}

static void file_forget_temp(const char *temp)
{
    for (int i = 0; temp && i < MOST_TEMPS; i++) {
        const char *there = temp;
        if (atomic_compare_exchange_strong(&file_temps[i], &there, NULL)) return;
    }
}

void file_temps_remove(void)
{
    for (int i = 0; i < MOST_TEMPS; i++) {
        const char *temp = atomic_load(&file_temps[i]);
        if (temp) unlink(temp);
    }
}

static int open_temp(struct file_out *f, struct err *e)
{
    char real[PATH_MAX];
    if (realpath(f->path, real)) { /* through a link to where it points */
        mem_free(f->path);
        f->path = mem_strdup(real);
        if (!f->path) return err_nomem(e);
    }
    size_t n = strlen(f->path) + FILE_TEMP_MORE;
    f->temp = mem_alloc(n);
    if (!f->temp) return err_nomem(e);
    file_temp_name(f->path, f->temp, n);
    unlink(f->temp); /* left by a process of the same number that was killed */
    f->fd = fd_open(f->temp, O_WRONLY | O_CREAT | O_EXCL, mode_of_new(f->path));
    if (f->fd >= 0) {
        file_note_temp(f->temp);
        keep_mode(f->fd, f->path);
        return 0;
    }
    int rc = fail_io(e, f->path, "cannot create");
    mem_free(f->temp);
    f->temp = NULL; /* nothing to remove */
    return rc;
}

int file_out_begin(struct file_out *f, const char *path, struct err *e)
{
    *f = (struct file_out){.fd = -1};
    f->path = mem_strdup(path);
    f->buffer = mem_alloc(OUT_BUFFER);
    int rc = f->path && f->buffer ? 0 : err_nomem(e);
    struct stat st;
    bool special = strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
    if (rc == 0) rc = special ? open_direct(f, e) : open_temp(f, e);
    if (rc < 0) file_out_abort(f);
    return rc;
}

int file_out_write(struct file_out *f, const void *p, size_t n, struct err *e)
{
    if (n == 0) return 0;
    f->written += n;
    if (f->used + n <= OUT_BUFFER) {
        memcpy(f->buffer + f->used, p, n);
        f->used += n;
        return 0;
    }
    TRY(file_flush(f, f->buffer, f->used, e));
    f->used = 0;
    if (n >= OUT_BUFFER) return file_flush(f, p, n, e);
    memcpy(f->buffer, p, n);
    f->used = n;
    return 0;
}

int file_out_commit(struct file_out *f, struct err *e)
{
    int rc = file_flush(f, f->buffer, f->used, e);
    if (rc == 0 && fsync(f->fd) < 0 && errno != EINVAL) rc = fail_io(e, f->path, "cannot write");
    if (close(f->fd) < 0 && rc == 0) rc = fail_io(e, f->path, "cannot write");
    f->fd = -1;
    if (rc == 0 && f->temp && rename(f->temp, f->path) < 0)
        rc = fail_io(e, f->path, "cannot rename into place");
    if (rc == 0) {
        file_forget_temp(f->temp);
        mem_free(f->temp);
        f->temp = NULL;
    }
    file_out_abort(f);
    return rc;
}

void file_out_abort(struct file_out *f)
{
    if (f->fd >= 0) close(f->fd);
    if (f->temp) unlink(f->temp);
    file_forget_temp(f->temp);
    mem_free(f->path);
    mem_free(f->temp);
    mem_free(f->buffer);
    *f = (struct file_out){.fd = -1};
}

int file_write_whole(const char *path, const void *p, size_t n, struct err *e)
{
    struct file_out f;
    TRY(file_out_begin(&f, path, e));
    int rc = file_out_write(&f, p, n, e);
    if (rc < 0) {
        file_out_abort(&f);
        return rc;
    }
    return file_out_commit(&f, e);
}
