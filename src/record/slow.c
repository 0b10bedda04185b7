/* slow.c: see slow.h. */
#include "record/slow.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "format/control.h"
#include "record/names.h"
#include "record/recorder.h"

enum { MOST_NAMES = 256, AGAIN_EVERY = 8 };
#define NOTICED_NS 1000000    /* a smaller difference is nothing */
#define REST_NS    5000000000 /* between two requests */

_Atomic enum slow_watch slow_watch;

static struct slow_times all[MOST_NAMES];
static double limit, ns_per_tick;
static struct slow_report last;
static bool names_stages; /* the program does */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void find_median(struct slow_times *t)
{
    int64_t sorted[SLOW_KEPT];
    uint32_t kept = t->n - SLOW_COLD, n = kept < SLOW_KEPT ? kept : SLOW_KEPT;
    memcpy(sorted, t->ns, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    t->median_ns = sorted[n / 2];
}

bool slow_add(struct slow_times *t, int64_t ns, double most)
{
    bool known = t->n >= SLOW_LEAST + SLOW_COLD;
    bool slow = known && (double)ns > most * (double)t->median_ns && ns - t->median_ns > NOTICED_NS;
    if (t->n++ < SLOW_COLD) return false;
    t->ns[(t->n - 1 - SLOW_COLD) % SLOW_KEPT] = ns;
    if (t->n == SLOW_LEAST + SLOW_COLD || (known && t->n % AGAIN_EVERY == 0)) find_median(t);
    return slow;
}

static struct slow_times *slow_times_of(uint32_t name)
{
    for (uint32_t i = 0; i < MOST_NAMES; i++) {
        struct slow_times *t = &all[(name * 2654435761u + i) % MOST_NAMES];
        if (!t->name) t->name = name;
        if (t->name == name) return t;
    }
    return NULL;
}

/* Asks, and does not wait for the answer. */
static void slow_ask(const char *why)
{
    const char *run = getenv("STRATA_RUN");
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char path[RUNDIR_MAX + 32], request[CONTROL_LINE];
    snprintf(path, sizeof path, "%s/" CONTROL_FOLDER, run ? run : "");
    int dir = fd_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0) return;
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%ld", dir, (long)getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0) {
        int n = snprintf(request, sizeof request, "snapshot %s\n", why);
        (void)(send(fd, request, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) == n);
    }
    if (fd >= 0) close(fd);
    close(dir);
}

/* Three digits, as reports have them. */
static void slow_time(char *out, size_t cap, int64_t ns)
{
    bool seconds = ns >= 999500000;
    double v = (double)ns / (seconds ? 1e9 : 1e6);
    snprintf(out, cap, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, seconds ? "s" : "ms");
}

static double slow_ratio(int64_t ns, int64_t median_ns)
{
    return (double)ns / (double)(median_ns ? median_ns : 1);
}

void slow_text(char *out, size_t cap, struct str name, const struct slow_call *c)
{
    char took[32], usual[32];
    slow_time(took, sizeof took, c->ns);
    slow_time(usual, sizeof usual, c->median_ns);
    double ratio = slow_ratio(c->ns, c->median_ns);
    snprintf(out, cap, "%.*s took %s%s, %.*f times its median of %s",
             name.n < 200 ? (int)name.n : 200, name.p, took,
             c->before ? " " RING_SNAPSHOT_BEFORE : "", ratio < 100, ratio, usual);
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' ';
}

static void slow_say(uint32_t name, const struct slow_call *c)
{
    char why[400] = "slow: ";
    size_t n = strlen(why);
    slow_text(why + n, sizeof why - n, names_text(name), c);
    slow_ask(why);
}

bool slow_is_due(const struct slow_report *before, const struct slow_report *now)
{
    if (!before->at_ns || now->at_ns - before->at_ns >= REST_NS) return true;
    return now->rank > before->rank || (now->rank == before->rank && now->ratio > before->ratio);
}

static bool slow_decide(void)
{
    const char *text = getenv("STRATA_SLOW");
    double wanted = text ? strtod(text, NULL) : 0;
    bool on = wanted > 1 && getenv("STRATA_KEEP");
    limit = wanted;
    ns_per_tick = 1e9 / recorder_ticks_per_second();
    atomic_store(&slow_watch, on ? SLOW_ON : SLOW_OFF);
    return on;
}

/* With the lock held: whether this is to be reported. */
static bool slow_judge(enum slow_rank rank, uint32_t name, struct slow_call *c)
{
    names_stages |= rank > SLOW_DERIVED;
    if (names_stages && rank == SLOW_DERIVED) return false;
    struct slow_times *t = slow_times_of(name);
    c->median_ns = t ? t->median_ns : 0;
    if (!t || !slow_add(t, c->ns, limit)) return false;
    struct slow_report now = {clock_mono_ns(), rank, slow_ratio(c->ns, c->median_ns)};
    if (!slow_is_due(&last, &now)) return false;
    last = now;
    return true;
}

void slow_look(enum slow_rank rank, const struct slow_round *call, uint64_t end)
{
    if (!call->name || end < call->begin) return;
    if (pthread_mutex_trylock(&lock) != 0) return; /* one less to know */
    bool on = atomic_load(&slow_watch) == SLOW_ON || slow_decide();
    int64_t ns = (int64_t)((double)(end - call->begin) * ns_per_tick);
    struct slow_call c = {.ns = ns + call->before_ns, .before = call->before_ns > ns / 10};
    bool slow = on && slow_judge(rank, call->name, &c);
    pthread_mutex_unlock(&lock);
    if (slow) slow_say(call->name, &c);
}

/* Processor time of the thread when its last such call ended. */
static __thread int64_t round_cpu_ns __attribute__((tls_model("initial-exec")));

static int64_t slow_cpu_ns(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void slow_round_open(struct slow_round *r)
{
    int64_t now = slow_cpu_ns();
    r->before_ns = round_cpu_ns && now > round_cpu_ns ? now - round_cpu_ns : 0;
}

void slow_round_close(const struct slow_round *r, uint64_t end)
{
    slow_look(SLOW_DERIVED, r, end);
    round_cpu_ns = slow_cpu_ns();
}

void slow_step(void)
{
    static _Atomic uint64_t began;
    if (atomic_load_explicit(&slow_watch, memory_order_relaxed) == SLOW_OFF) return;
    uint64_t now = clock_ticks(recorder_clock()), before = atomic_exchange(&began, now);
    if (before) slow_saw(SLOW_OUTERMOST, names_id(str_c("step")), before, now);
}
