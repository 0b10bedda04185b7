/* serve.c: see serve.h. One thread: connections wait in a table until their request has arrived,
 * since browsers open some that they never use, and are then answered one after the other. */
#include "cli/serve.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { MOST_CONNECTIONS = 16, MOST_REQUEST = 8192, WORD_BYTES = 12, PATIENCE_S = 30 };

struct connection {
    int fd;
    size_t n;
    char request[MOST_REQUEST + 1];
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
    if (getrandom(word, sizeof word, 0) != (ssize_t)sizeof word)
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

/* The value of a header, empty when there is none. */
static struct str header(const char *request, const char *name)
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
static bool may_ask(const struct serve *s, const char *request)
{
    char by_number[32], by_name[32];
    snprintf(by_number, sizeof by_number, "127.0.0.1:%u", s->port);
    snprintf(by_name, sizeof by_name, "localhost:%u", s->port);
    struct str host = header(request, "Host"), origin = header(request, "Origin");
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

static const char *status_of(const struct serve *s, const char *request)
{
    if (!may_ask(s, request)) return "403 Forbidden";
    if (!asks_for(request, s->path)) return "404 Not Found";
    enum method m = method_of(request);
    if (m == OTHER) return "405 Method Not Allowed";
    return m == OPTIONS ? "204 No Content" : "200 OK";
}

static bool send_text(int fd, const char *text)
{
    for (size_t n = strlen(text); n;) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        text += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool send_file(const struct serve *s, int fd)
{
    off_t at = 0;
    while ((uint64_t)at < s->size_bytes && !interrupted) {
        ssize_t sent = sendfile(fd, s->file, &at, (size_t)(s->size_bytes - (uint64_t)at));
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) break;
    }
    return (uint64_t)at == s->size_bytes;
}

/* Returns whether the whole file was sent. */
static bool answer(const struct serve *s, int fd, const char *request)
{
    const char *status = status_of(s, request);
    bool ok = status[0] == '2';
    char head[800];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nConnection: close\r\nCache-Control: no-store\r\n"
                     "X-Content-Type-Options: nosniff\r\nVary: Origin\r\nContent-Length: %llu\r\n",
                     status,
                     ok && method_of(request) != OPTIONS ? (unsigned long long)s->size_bytes : 0);
    if (may_ask(s, request))
        n += snprintf(head + n, sizeof head - (size_t)n, "Access-Control-Allow-Origin: %s\r\n",
                      s->origin);
    snprintf(
        head + n, sizeof head - (size_t)n, "%s\r\n",
        ok ? "Content-Type: application/octet-stream\r\nAccess-Control-Allow-Methods: GET, HEAD\r\n"
             "Access-Control-Allow-Private-Network: true\r\n"
           : "");
    bool sent = send_text(fd, head) && ok && method_of(request) == GET && send_file(s, fd);
    shutdown(fd, SHUT_WR);
    return sent;
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

static void greet(struct table *t, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct timeval patience = {.tv_sec = PATIENCE_S};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (t->n == MOST_CONNECTIONS) drop(t, 0);
    t->list[t->n].fd = fd;
    t->list[t->n++].n = 0;
}

/* Reads more of a request; true if it was the last one to answer. */
static bool hear(const struct serve *s, struct table *t, int i)
{
    struct connection *c = &t->list[i];
    ssize_t got = recv(c->fd, c->request + c->n, MOST_REQUEST - c->n, 0);
    if (got > 0) c->n += (size_t)got;
    c->request[c->n] = 0;
    bool whole = got > 0 && strstr(c->request, "\r\n\r\n");
    bool sent = whole && answer(s, c->fd, c->request);
    if (whole || got <= 0 || c->n == MOST_REQUEST) drop(t, i);
    return sent;
}

static int wait_for(const struct serve *s, const struct table *t, struct pollfd *polls)
{
    polls[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    for (int i = 0; i < t->n; i++)
        polls[i + 1] = (struct pollfd){.fd = t->list[i].fd, .events = POLLIN};
    return ppoll(polls, (nfds_t)t->n + 1, NULL, &s->while_waiting);
}

static void answer_all(const struct serve *s, bool once, struct table *t)
{
    struct pollfd polls[MOST_CONNECTIONS + 1];
    bool sent = false;
    while (!interrupted && !(once && sent)) {
        if (wait_for(s, t, polls) < 0) continue;
        /* from the end: a closed connection is replaced by one already looked at */
        for (int i = t->n; i-- > 0;)
            if (polls[i + 1].revents) sent |= hear(s, t, i);
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
