/* serve.c: see serve.h. One thread that waits for all connections at once and for Ctrl-C, and for
 * none of them alone: browsers open some that they never use, and may take their time over a file.
 */
#include "cli/serve.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/serve_request.h"

enum { MOST_CONNECTIONS = 16, MOST_REQUEST = 8192, WORD_BYTES = 12 };
enum { PIECE_BYTES = 1 << 20 };                 /* of the file, before the others have their turn */
#define PATIENCE_NS ((uint64_t)30 * 1000000000) /* with one that neither asks nor reads */

struct connection {
    int fd;
    uint64_t moved_ns; /* when it last sent or took something */
    size_t n;
    char request[MOST_REQUEST + 1];
    bool answering;
    char head[SERVE_HEAD];
    size_t head_at, head_n; /* sent, of all */
    off_t file_at, file_n;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* A random word, then the name without characters that a URL would have to escape. */
static int make_path(struct serve *s, const char *name, struct err *e)
{
    unsigned char word[WORD_BYTES];
    /* the call itself: libc has a function for it only since 2.25 */
    if (syscall(SYS_getrandom, word, sizeof word, 0) != (long)sizeof word)
        return FAIL(e, ERR_IO, "cannot get random numbers: %s", strerror(errno));
    char *p = s->path, *end = s->path + sizeof s->path - 1;
    *p++ = '/';
    for (size_t i = 0; i < sizeof word; i++, p += 2) snprintf(p, 3, "%02x", word[i]);
    *p++ = '/';
    for (; *name && p < end; name++)
        *p++ = isalnum((unsigned char)*name) || strchr("._-", *name) ? *name : '_';
    *p = 0;
    return 0;
}

static int listen_on(struct serve *s, struct err *e)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons(s->port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof here;
    int yes = 1;
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0) return FAIL(e, ERR_IO, "cannot open a socket: %s", strerror(errno));
    setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(s->listener, (struct sockaddr *)&here, n) == 0 && listen(s->listener, 8) == 0 &&
        getsockname(s->listener, (struct sockaddr *)&here, &n) == 0) {
        s->port = ntohs(here.sin_port);
        return 0;
    }
    int error = errno;
    serve_close(s);
    return FAIL(e, ERR_IO, "cannot use port %u: %s%s", s->port, strerror(error),
                error == EADDRINUSE
                    ? "; stop the program that uses it (perhaps another strata perfetto)"
                    : "");
}

/* Ctrl-C is delivered only while we wait, so it cannot be missed. Readers may leave at any time. */
static void catch_signals(struct serve *s)
{
    struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &s->while_waiting);
    sigdelset(&s->while_waiting, SIGINT);
    sigdelset(&s->while_waiting, SIGTERM);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

int serve_open(struct serve *s, const char *name, struct err *e)
{
    struct stat st;
    s->listener = -1;
    if (fstat(s->file, &st) < 0) return FAIL(e, ERR_IO, "cannot read: %s", strerror(errno));
    s->size_bytes = (uint64_t)st.st_size;
    TRY(make_path(s, name, e));
    TRY(listen_on(s, e));
    catch_signals(s);
    return 0;
}

void serve_close(struct serve *s)
{
    if (s->listener >= 0) close(s->listener);
    s->listener = -1;
}

struct table {
    struct connection list[MOST_CONNECTIONS];
    int n;
};

static void drop(struct table *t, int i)
{
    close(t->list[i].fd);
    t->list[i] = t->list[--t->n];
}

/* The one to go when there are too many: it has asked for nothing, or taken nothing for longest. */
static int least_needed(const struct table *t)
{
    int found = 0;
    for (int i = 1; i < t->n; i++) {
        const struct connection *a = &t->list[i], *b = &t->list[found];
        if (a->answering != b->answering ? b->answering : a->moved_ns < b->moved_ns) found = i;
    }
    return found;
}

static void greet(struct table *t, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    if (t->n == MOST_CONNECTIONS) drop(t, least_needed(t));
    struct connection *c = &t->list[t->n++];
    *c = (struct connection){.fd = fd, .moved_ns = clock_mono_ns()};
}

/* More of a request; false when the connection is of no more use. */
static bool hear(const struct serve *s, struct connection *c)
{
    ssize_t got = recv(c->fd, c->request + c->n, MOST_REQUEST - c->n, 0);
    if (got <= 0) return got < 0 && errno == EAGAIN;
    c->n += (size_t)got;
    c->request[c->n] = 0;
    if (!strstr(c->request, "\r\n\r\n")) return c->n < MOST_REQUEST;
    struct serve_offer offer = {s->path, s->origin, s->port, s->size_bytes};
    bool file = serve_request_answer(&offer, c->request, c->head, sizeof c->head);
    c->head_n = strlen(c->head);
    c->file_n = file ? (off_t)s->size_bytes : 0;
    c->answering = true;
    return true;
}

/* More of an answer, as much as is taken at once; false at its end, or when nobody is there. */
static bool tell(const struct serve *s, struct connection *c, bool *ret_sent)
{
    ssize_t sent;
    if (c->head_at < c->head_n) {
        sent = send(c->fd, c->head + c->head_at, c->head_n - c->head_at, MSG_NOSIGNAL);
        if (sent > 0) c->head_at += (size_t)sent;
    } else {
        off_t left = c->file_n - c->file_at;
        sent = left ? sendfile(c->fd, s->file, &c->file_at,
                               left < PIECE_BYTES ? (size_t)left : PIECE_BYTES)
                    : 0;
    }
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    if (c->head_at < c->head_n || c->file_at < c->file_n) return sent > 0;
    *ret_sent |= c->file_n > 0;
    shutdown(c->fd, SHUT_WR);
    return false;
}

static int wait_for(const struct serve *s, const struct table *t, struct pollfd *polls)
{
    struct timespec patience = {.tv_sec = (time_t)(PATIENCE_NS / 1000000000)};
    polls[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    for (int i = 0; i < t->n; i++)
        polls[i + 1] =
            (struct pollfd){.fd = t->list[i].fd, .events = t->list[i].answering ? POLLOUT : POLLIN};
    return ppoll(polls, (nfds_t)t->n + 1, t->n ? &patience : NULL, &s->while_waiting);
}

/* What the wait has found, from the end: one that goes is replaced by one that was looked at. */
static bool go_on(const struct serve *s, struct table *t, const struct pollfd *polls)
{
    bool sent = false;
    uint64_t now = clock_mono_ns();
    for (int i = t->n; i-- > 0;) {
        struct connection *c = &t->list[i];
        bool stays = now - c->moved_ns < PATIENCE_NS;
        if (polls[i + 1].revents) {
            c->moved_ns = now;
            stays = c->answering ? tell(s, c, &sent) : hear(s, c);
        }
        if (!stays) drop(t, i);
    }
    return sent;
}

static void answer_all(const struct serve *s, bool once, struct table *t)
{
    struct pollfd polls[MOST_CONNECTIONS + 1];
    bool sent = false;
    while (!interrupted && !(once && sent)) {
        if (wait_for(s, t, polls) < 0) continue;
        sent |= go_on(s, t, polls);
        if (polls[0].revents) greet(t, s->listener);
    }
}

int serve_run(struct serve *s, bool once, struct err *e)
{
    struct table *t = mem_zalloc(1, sizeof *t);
    if (!t) return err_nomem(e);
    answer_all(s, once, t);
    while (t->n) drop(t, 0);
    mem_free(t);
    return 0;
}
