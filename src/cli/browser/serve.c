/* serve.c: see browser.h. One thread that waits for all connections at once and for Ctrl-C, and for
 * none of them alone: browsers open some that they never use, and may take their time over a file.
 */
#include "cli/browser/browser.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

/* Who may ask for the file of a serve, and the head of the answer. */

#define SERVE_HEAD 800 /* bytes that every head fits into */

/* What is offered: at this path and port, to pages of this origin. */
struct serve_offer {
    const char *path, *origin;
    uint16_t port;
    uint64_t size_bytes;
};

/* The value of a header, empty when there is none. */
static struct str serve_request_header(const char *request, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = strstr(request, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, n) != 0 || line[n] != ':') continue;
        const char *value = line + n + 1 + strspn(line + n + 1, " \t");
        return str_from(value, strcspn(value, "\r"));
    }
    return str_c("");
}

/* A page of another origin, or one that uses another name for this machine, must get nothing. */
static bool serve_request_may_ask(const struct serve_offer *s, const char *request)
{
    char by_number[32], by_name[32];
    snprintf(by_number, sizeof by_number, "127.0.0.1:%u", s->port);
    snprintf(by_name, sizeof by_name, "localhost:%u", s->port);
    struct str host = serve_request_header(request, "Host"),
               origin = serve_request_header(request, "Origin");
    if (!str_is(host, by_number) && !str_is(host, by_name)) return false;
    return !origin.n || str_is(origin, s->origin);
}

enum method { GET, HEAD, OPTIONS, OTHER };

static enum method method_of(const char *request)
{
    static const char *const words[] = {"GET ", "HEAD ", "OPTIONS "};
    for (int i = 0; i < OTHER; i++)
        if (strncmp(request, words[i], strlen(words[i])) == 0) return (enum method)i;
    return OTHER;
}

static bool asks_for(const char *request, const char *path)
{
    const char *begin = strchr(request, ' ');
    return begin && str_is(str_from(begin + 1, strcspn(begin + 1, " ?\r")), path);
}

static const char *status_of(const struct serve_offer *s, const char *request)
{
    if (!serve_request_may_ask(s, request)) return "403 Forbidden";
    if (!asks_for(request, s->path)) return "404 Not Found";
    enum method m = method_of(request);
    if (m == OTHER) return "405 Method Not Allowed";
    return m == OPTIONS ? "204 No Content" : "200 OK";
}

/* Writes the head of the answer to a whole request to `ret`; true when the file follows it. */
static bool serve_request_answer(const struct serve_offer *s, const char *request, char *ret,
                                 size_t cap)
{
    const char *status = status_of(s, request);
    bool ok = status[0] == '2', has_size = ok && method_of(request) != OPTIONS;
    int n = snprintf(ret, cap,
                     "HTTP/1.1 %s\r\nConnection: close\r\nCache-Control: no-store\r\n"
                     "X-Content-Type-Options: nosniff\r\nVary: Origin\r\nContent-Length: %llu\r\n",
                     status, has_size ? (unsigned long long)s->size_bytes : 0);
    if (serve_request_may_ask(s, request))
        n += snprintf(ret + n, cap - (size_t)n, "Access-Control-Allow-Origin: %s\r\n", s->origin);
    snprintf(
        ret + n, cap - (size_t)n, "%s\r\n",
        ok ? "Content-Type: application/octet-stream\r\nAccess-Control-Allow-Methods: GET, HEAD\r\n"
             "Access-Control-Allow-Private-Network: true\r\n"
           : "");
    return ok && method_of(request) == GET;
}

enum { MOST_CONNECTIONS = 16, MOST_REQUEST = 8192, WORD_BYTES = 12 };
enum { PIECE_BYTES = 1 << 20 };                 /* of the file, before the others are served */
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

static void serve_on_signal(int number)
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
                    ? "; stop the program that uses it (perhaps another strata export --open)"
                    : "");
}

/* Ctrl-C is delivered only while we wait, so it cannot be missed. Readers may leave at any time. */
static void catch_signals(struct serve *s)
{
    struct sigaction stop = {.sa_handler = serve_on_signal}, ignore = {.sa_handler = SIG_IGN};
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

static void serve_drop(struct table *t, int i)
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

static void serve_greet(struct table *t, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    if (t->n == MOST_CONNECTIONS) serve_drop(t, least_needed(t));
    struct connection *c = &t->list[t->n++];
    *c = (struct connection){.fd = fd, .moved_ns = clock_mono_ns()};
}

/* More of a request; false when the connection is of no more use. */
static bool serve_hear(const struct serve *s, struct connection *c)
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

/* More of an answer, as much as is taken at once; false at its end, or when the reader is gone. */
static bool serve_tell(const struct serve *s, struct connection *c, bool *ret_sent)
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

static int serve_wait_for(const struct serve *s, const struct table *t, struct pollfd *polls)
{
    struct timespec patience = {.tv_sec = (time_t)(PATIENCE_NS / 1000000000)};
    polls[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    for (int i = 0; i < t->n; i++)
        polls[i + 1] =
            (struct pollfd){.fd = t->list[i].fd, .events = t->list[i].answering ? POLLOUT : POLLIN};
    return ppoll(polls, (nfds_t)t->n + 1, t->n ? &patience : NULL, &s->while_waiting);
}

/* What the wait has found, from the end: one that goes is replaced by one that was examined. */
static bool serve_go_on(const struct serve *s, struct table *t, const struct pollfd *polls)
{
    bool sent = false;
    uint64_t now = clock_mono_ns();
    for (int i = t->n; i-- > 0;) {
        struct connection *c = &t->list[i];
        bool stays = now - c->moved_ns < PATIENCE_NS;
        if (polls[i + 1].revents) {
            c->moved_ns = now;
            stays = c->answering ? serve_tell(s, c, &sent) : serve_hear(s, c);
        }
        if (!stays) serve_drop(t, i);
    }
    return sent;
}

static void answer_all(const struct serve *s, bool once, struct table *t)
{
    struct pollfd polls[MOST_CONNECTIONS + 1];
    bool sent = false;
    while (!interrupted && !(once && sent)) {
        if (serve_wait_for(s, t, polls) < 0) continue;
        sent |= serve_go_on(s, t, polls);
        if (polls[0].revents) serve_greet(t, s->listener);
    }
}

int serve_run(struct serve *s, bool once, struct err *e)
{
    struct table *t = mem_zalloc(1, sizeof *t);
    if (!t) return err_nomem(e);
    answer_all(s, once, t);
    while (t->n) serve_drop(t, 0);
    mem_free(t);
    return 0;
}
