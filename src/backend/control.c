/* control.c: see control.h. */
#include "backend/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "format/control.h"
#include "record/rundir.h"

#define PATIENCE_MS 500 /* for a request that comes slowly */

/* Whose recording is under way. */
struct client {
    int fd; /* -1: the place is free */
    struct stat made;
    int part;
    uint64_t until_ns; /* 0: no limit */
};

static char folder[RUNDIR_MAX + sizeof CONTROL_FOLDER];
static struct control_actions act;
static int listening = -1, wake[2] = {-1, -1};
static struct stat ours[2]; /* the two above, to know them again */
static atomic_bool started;
static _Atomic(const char *) asked;
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;

static bool control_is_ours(int fd, const struct stat *made)
{
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_dev == made->st_dev && now.st_ino == made->st_ino;
}

static void control_answer(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void control_answer(int fd, const char *fmt, ...)
{
    char line[CONTROL_LINE];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line - 1, fmt, ap);
    va_end(ap);
    if (n < 0) return;
    if ((size_t)n > sizeof line - 2) n = (int)sizeof line - 2;
    line[n] = '\n';
    (void)(send(fd, line, (size_t)n + 1, MSG_NOSIGNAL | MSG_DONTWAIT) == n + 1);
}

/* Up to the end of a line that comes in time; false when there is none. */
static bool control_read_line(int fd, char line[CONTROL_LINE])
{
    size_t n = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (n + 1 < CONTROL_LINE && poll(&p, 1, PATIENCE_MS) == 1) {
        ssize_t got = recv(fd, line + n, CONTROL_LINE - 1 - n, MSG_DONTWAIT);
        if (got <= 0) return false;
        n += (size_t)got;
        char *end = memchr(line, '\n', n);
        if (!end) continue;
        *end = 0;
        return true;
    }
    return false;
}

/* The owner of the process, or root. */
static bool control_may_ask(int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 &&
           (who.uid == geteuid() || who.uid == 0);
}

static void control_finish(struct client *c)
{
    if (c->fd < 0) return;
    act.end();
    if (control_is_ours(c->fd, &c->made)) {
        control_answer(c->fd, "ended part=%d", c->part);
        close(c->fd);
    }
    c->fd = -1;
}

/* True when the connection stays: its recording is on. */
static bool control_begin(struct client *c, int fd, const char *ms)
{
    struct err e;
    err_init(&e);
    if (c->fd >= 0) {
        control_answer(fd, "error it is being recorded already (part %d)", c->part);
        return false;
    }
    long long limit_ms = strtoll(ms, NULL, 10);
    int part = act.begin(&e);
    if (part < 0) {
        control_answer(fd, "error %s", e.msg);
        return false;
    }
    uint64_t limit_ns = limit_ms > 0 ? (uint64_t)limit_ms * 1000000 : 0;
    *c = (struct client){.fd = fd, .part = part};
    c->until_ns = limit_ns ? clock_mono_ns() + limit_ns : 0;
    fstat(fd, &c->made);
    control_answer(fd, "ok part=%d", part);
    return true;
}

static void control_take_snapshot(int fd, const char *why)
{
    char path[RUNDIR_MAX + 64];
    struct err e;
    err_init(&e);
    int rc = act.snapshot(why, path, sizeof path, &e);
    if (fd < 0) return;
    if (rc < 0) control_answer(fd, "error %s", e.msg);
    else control_answer(fd, "ok folder=%s", path);
}

static bool control_serve(struct client *c, int fd)
{
    char line[CONTROL_LINE];
    if (!control_may_ask(fd) || !control_read_line(fd, line)) return false;
    if (strncmp(line, "begin", 5) == 0) return control_begin(c, fd, line + 5);
    if (strncmp(line, "snapshot", 8) == 0) control_take_snapshot(fd, line + 8 + (line[8] == ' '));
    else if (strcmp(line, "status") == 0)
        control_answer(fd, "ok state=%s parts=%d", act.state(), act.n_parts());
    else control_answer(fd, "error unknown request");
    return false;
}

static void control_welcome(struct client *c)
{
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0 && !control_serve(c, fd)) close(fd);
}

static int time_left_ms(const struct client *c)
{
    if (c->fd < 0 || !c->until_ns) return -1;
    uint64_t now = clock_mono_ns();
    uint64_t ms = now < c->until_ns ? (c->until_ns - now) / 1000000 + 1 : 0;
    return ms < 1000000 ? (int)ms : 1000000;
}

static void answer_signal(void)
{
    char byte;
    (void)(read(wake[0], &byte, 1) == 1);
    const char *why = atomic_exchange(&asked, NULL);
    if (why) control_take_snapshot(-1, why);
}

static void *control_attend(void *unused)
{
    struct client c = {.fd = -1};
    for (;;) {
        struct pollfd p[3] = {{listening, POLLIN, 0}, {wake[0], POLLIN, 0}, {c.fd, POLLIN, 0}};
        if (poll(p, 3, time_left_ms(&c)) < 0 && errno != EINTR) break;
        if (!control_is_ours(listening, &ours[0]) || !control_is_ours(wake[0], &ours[1]))
            break; /* closed by others */
        if (c.fd >= 0 && (p[2].revents || time_left_ms(&c) == 0)) control_finish(&c);
        if (p[1].revents) answer_signal();
        if (p[0].revents) control_welcome(&c);
    }
    control_finish(&c);
    return unused;
}

/* A path of any length through the folder's descriptor: that of a socket may have 108 bytes. */
static int listen_in(int dir, struct err *e)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char name[32];
    snprintf(name, sizeof name, "%ld", (long)getpid());
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%s", dir, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && fd <= 2) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        close(fd);
        fd = high;
    }
    if (fd < 0) return FAIL(e, ERR_IO, "no socket: %s", strerror(errno));
    unlinkat(dir, name, 0); /* left by a process of the same number that was killed */
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || fchmodat(dir, name, 0600, 0) < 0 ||
        listen(fd, 8) < 0) {
        int rc = FAIL(e, ERR_IO, "cannot listen in the run's folder: %s", strerror(errno));
        close(fd);
        return rc;
    }
    listening = fd;
    return 0;
}

/* The folder is ours alone, so that no other user can connect before the socket is. */
static int control_open_folder(struct err *e)
{
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return FAIL(e, ERR_IO, "cannot create %s: %s", folder, strerror(errno));
    int dir = fd_open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    struct stat st;
    if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 022) {
        if (dir >= 0) close(dir);
        return FAIL(e, ERR_IO, "%s can be written to by other users", folder);
    }
    int rc = listen_in(dir, e);
    close(dir);
    return rc;
}

static int open_all(struct err *e)
{
    TRY(control_open_folder(e));
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0) {
        close(listening);
        return FAIL(e, ERR_IO, "no pipe: %s", strerror(errno));
    }
    fstat(listening, &ours[0]);
    fstat(wake[0], &ours[1]);
    return 0;
}

static int control_start_thread(struct err *e)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, control_attend, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) return FAIL(e, ERR_IO, "cannot start a thread");
    pthread_setname_np(thread, "strata-control");
    pthread_detach(thread); /* it ends with the process */
    return 0;
}

static void remove_socket(void)
{
    char path[sizeof folder + 32];
    snprintf(path, sizeof path, "%s/%ld", folder, (long)getpid());
    if (atomic_load(&started)) unlink(path);
}

/* The thread and the socket are the parent's. */
static void control_forget_in_child(void)
{
    pthread_mutex_init(&life, NULL);
    if (!atomic_exchange(&started, false)) return;
    if (control_is_ours(listening, &ours[0])) close(listening);
    if (control_is_ours(wake[0], &ours[1])) {
        close(wake[0]);
        close(wake[1]);
    }
    listening = wake[0] = wake[1] = -1;
}

static void control_prepare(void)
{
    pthread_atfork(NULL, NULL, control_forget_in_child);
    atexit(remove_socket);
}

static int control_do_start(const char *run, const struct control_actions *a, struct err *e)
{
    act = *a;
    if ((size_t)snprintf(folder, sizeof folder, "%s/" CONTROL_FOLDER, run) >= sizeof folder)
        return FAIL(e, ERR_LIMIT, "the path of the run folder is too long");
    TRY(open_all(e));
    return control_start_thread(e);
}

int control_start(const char *run, const struct control_actions *a, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int rc = 0;
    pthread_once(&once, control_prepare);
    pthread_mutex_lock(&life);
    if (!atomic_load(&started)) {
        rc = control_do_start(run, a, e);
        if (rc == 0) atomic_store(&started, true);
    }
    pthread_mutex_unlock(&life);
    return rc;
}

void control_ask_for_snapshot(const char *why)
{
    int error = errno;
    atomic_store(&asked, why);
    if (atomic_load(&started)) (void)(write(wake[1], "", 1) == 1);
    errno = error;
}
