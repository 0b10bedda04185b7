/* recordable.c: see recordable.h. */
#include "cli/recording/recordable.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "format/control.h"

enum { ANSWER_MS = 2000 };

int recordable_ask(const struct recordable *r, const char *request)
{
    char path[4096];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(path, sizeof path, "%s/" CONTROL_FOLDER, r->run);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) return -1;
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%ld", dir, r->pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool there = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(dir);
    size_t n = strlen(request);
    if (there) there = send(fd, request, n, MSG_NOSIGNAL) == (ssize_t)n;
    if (there) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

bool recordable_line(int fd, char *line, size_t cap, int wait_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (size_t n = 0; n + 1 < cap; n++) {
        if (poll(&p, 1, wait_ms) != 1 || recv(fd, line + n, 1, 0) != 1) return false;
        if (line[n] != '\n') continue;
        line[n] = 0;
        return true;
    }
    return false;
}

/* Whether it answers, and what. */
static bool fill_state(struct recordable *r)
{
    char line[CONTROL_LINE];
    int fd = recordable_ask(r, "status\n");
    if (fd < 0) return false;
    bool told = recordable_line(fd, line, sizeof line, ANSWER_MS) &&
                sscanf(line, "ok state=%15s parts=%d", r->state, &r->n_parts) == 2;
    close(fd);
    return told;
}

static const char *program_of(long pid, struct arena *mem)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    FILE *f = fopen(path, "re");
    if (f && fgets(name, sizeof name, f)) name[strcspn(name, "\n")] = 0;
    if (f) fclose(f);
    return arena_printf(mem, "%s", name);
}

/* The value of a variable that the process was started with; NULL when it has none, or is not ours
 * to look into. */
static const char *variable_of(long pid, const char *name, struct arena *mem)
{
    enum { MOST = 1 << 20 };
    char path[64];
    size_t n_name = strlen(name);
    snprintf(path, sizeof path, "/proc/%ld/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? arena_alloc(mem, MOST + 1) : NULL;
    size_t n = 0;
    for (ssize_t got; text && n < MOST && (got = read(fd, text + n, MOST - n)) > 0;)
        n += (size_t)got;
    if (fd >= 0) close(fd);
    if (!text) return NULL;
    text[n] = 0;
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (strncmp(text + at, name, n_name) == 0 && text[at + n_name] == '=')
            return text + at + n_name + 1;
    return NULL;
}

static int recordable_add(struct arena *mem, struct recordables *l, long pid, const char *run,
                          struct err *e)
{
    struct recordable r = {.pid = pid, .run = run};
    if (!run || !*run || !fill_state(&r)) return 0;
    r.program = program_of(pid, mem);
    if ((l->n & (l->n - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
        struct recordable *more = arena_alloc(mem, (l->n ? 2 * l->n : 1) * sizeof *more);
        if (!more) return err_nomem(e);
        if (l->n) memcpy(more, l->list, l->n * sizeof *more);
        l->list = more;
    }
    l->list[l->n++] = r;
    return r.program ? 0 : err_nomem(e);
}

static int recordable_by_pid(const void *a, const void *b)
{
    const struct recordable *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Calls `fn` for every entry of a folder whose name is a number. */
static int each_number(const char *path, int (*fn)(void *ctx, long n, struct err *e), void *ctx,
                       struct err *e)
{
    DIR *d = opendir(path);
    int rc = 0;
    for (struct dirent *entry; d && rc == 0 && (entry = readdir(d));) {
        char *end;
        long n = strtol(entry->d_name, &end, 10);
        if (n > 0 && *end == 0) rc = fn(ctx, n, e);
    }
    if (d) closedir(d);
    return rc;
}

struct search {
    struct arena *mem;
    struct recordables *found;
    const char *run;
};

static int add_in_run(void *ctx, long pid, struct err *e)
{
    struct search *s = ctx;
    return recordable_add(s->mem, s->found, pid, s->run, e);
}

/* The run whose rings the process has mapped: of one that was entered, whose environment says
 * nothing. NULL when there is none. */
static const char *run_it_writes(long pid, struct arena *mem)
{
    char path[64], line[8192];
    const char *run = NULL;
    snprintf(path, sizeof path, "/proc/%ld/maps", pid);
    FILE *f = fopen(path, "re");
    while (f && !run && fgets(line, sizeof line, f)) {
        char *folder = strchr(line, '/'), *rings = folder ? strstr(folder, "/rings/") : NULL;
        if (rings) run = arena_printf(mem, "%.*s", (int)(rings - folder), folder);
    }
    if (f) fclose(f);
    return run;
}

const char *recordable_own_run(long pid, struct arena *mem)
{
    const char *level = variable_of(pid, "STRATA_LEVEL", mem);
    return level && strcmp(level, "timeline") == 0 ? run_it_writes(pid, mem) : NULL;
}

static int recordable_add_process(void *ctx, long pid, struct err *e)
{
    struct search *s = ctx;
    struct arena_mark m = arena_mark(s->mem);
    uint32_t before = s->found->n;
    const char *level = variable_of(pid, "STRATA_LEVEL", s->mem);
    const char *run = level ? variable_of(pid, "STRATA_RUN", s->mem) : run_it_writes(pid, s->mem);
    TRY(recordable_add(s->mem, s->found, pid, run, e));
    if (s->found->n == before) arena_reset_to(s->mem, m);
    return 0;
}

static int recordable_find(const char *where, int (*fn)(void *ctx, long n, struct err *e),
                           struct search *s, struct err *e)
{
    *s->found = (struct recordables){0};
    TRY(each_number(where, fn, s, e));
    if (s->found->n) qsort(s->found->list, s->found->n, sizeof *s->found->list, recordable_by_pid);
    return 0;
}

int recordables_all(struct arena *mem, struct recordables *ret, struct err *e)
{
    struct search s = {mem, ret, NULL};
    return recordable_find("/proc", recordable_add_process, &s, e);
}

int recordables_of_run(const char *run, struct arena *mem, struct recordables *ret, struct err *e)
{
    struct search s = {mem, ret, arena_printf(mem, "%s", run)}; /* the list outlives `run` */
    const char *folder = arena_printf(mem, "%s/" CONTROL_FOLDER, run);
    if (!folder || !s.run) return err_nomem(e);
    return recordable_find(folder, add_in_run, &s, e);
}

int recordables_of_pid(long pid, struct arena *mem, struct recordables *ret, struct err *e)
{
    *ret = (struct recordables){0};
    const char *run = variable_of(pid, "STRATA_RUN", mem);
    return recordable_add(mem, ret, pid, run ? run : run_it_writes(pid, mem), e);
}
