/* serve_request.c: see serve_request.h. */
#include "cli/serve_request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

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
static bool may_ask(const struct serve_offer *s, const char *request)
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

static const char *status_of(const struct serve_offer *s, const char *request)
{
    if (!may_ask(s, request)) return "403 Forbidden";
    if (!asks_for(request, s->path)) return "404 Not Found";
    enum method m = method_of(request);
    if (m == OTHER) return "405 Method Not Allowed";
    return m == OPTIONS ? "204 No Content" : "200 OK";
}

bool serve_request_answer(const struct serve_offer *s, const char *request, char *ret, size_t cap)
{
    const char *status = status_of(s, request);
    bool ok = status[0] == '2', has_size = ok && method_of(request) != OPTIONS;
    int n = snprintf(ret, cap,
                     "HTTP/1.1 %s\r\nConnection: close\r\nCache-Control: no-store\r\n"
                     "X-Content-Type-Options: nosniff\r\nVary: Origin\r\nContent-Length: %llu\r\n",
                     status, has_size ? (unsigned long long)s->size_bytes : 0);
    if (may_ask(s, request))
        n += snprintf(ret + n, cap - (size_t)n, "Access-Control-Allow-Origin: %s\r\n", s->origin);
    snprintf(
        ret + n, cap - (size_t)n, "%s\r\n",
        ok ? "Content-Type: application/octet-stream\r\nAccess-Control-Allow-Methods: GET, HEAD\r\n"
             "Access-Control-Allow-Private-Network: true\r\n"
           : "");
    return ok && method_of(request) == GET;
}
