/* flight.c: see recording.h. */
#include "backend/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/control.h"
#include "base/fd.h"
#include "base/str.h"
#include "format/ring.h"
#include "record/names.h"
#include "record/recorder.h"
#include "record/rundir.h"

enum {
    AFTER_MS = 250,   /* kept after the mark: what it was in the middle of may end */
    SETTLE_MS = 3000, /* how long a snapshot waits for records of work that was launched */
    MOST = 100,       /* snapshots of a process */
    PATH_BYTES = RUNDIR_MAX + 320,
};

static atomic_int n_snapshots;

static atomic_long kept_ms; /* once it is known: a program may change its environment */

bool flight_wanted(void)
{
    const char *keep = getenv("STRATA_KEEP");
    if (keep) atomic_store(&kept_ms, strtol(keep, NULL, 10));
    return atomic_load(&kept_ms) > 0;
}

/* The name says how much is kept, and why it was wanted: trace/snapshot_mark.h. */
static void flight_mark(const char *why)
{
    char name[600];
    snprintf(name, sizeof name, RING_SNAPSHOT "%ld: %.500s", atomic_load(&kept_ms),
             *why ? why : "asked for");
    recorder_put(
        (struct ring_record){.kind = RING_INSTANT, .name = (uint16_t)names_id(str_c(name))}, 0);
}

static int copy_bytes(int from, int to)
{
    static char bytes[1 << 20]; /* the control thread's */
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || write(to, bytes, (size_t)n) != n) return -1;
    }
    return 0;
}

/* What was overwritten is not missing from a snapshot. */
static void clear_losses(int ring)
{
    static const uint64_t none;
    (void)(pwrite(ring, &none, sizeof none, offsetof(struct ring_head, n_lost)) > 0);
}

static int copy_file(const char *from, const char *to, bool ring)
{
    int in = fd_open(from, O_RDONLY | O_NOFOLLOW, 0);
    int out = in < 0 ? -1 : fd_open(to, O_RDWR | O_CREAT | O_EXCL, 0600);
    int rc = out < 0 ? -1 : copy_bytes(in, out);
    if (rc == 0 && ring) clear_losses(out);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return rc;
}

/* Files of this process that end so. */
static int copy_kind(const char *rings, const char *to, const char *ending)
{
    char mine[32], from[PATH_BYTES], path[PATH_BYTES];
    DIR *d = opendir(rings);
    int rc = d ? 0 : -1;
    snprintf(mine, sizeof mine, "-%ld-", (long)getpid());
    for (struct dirent *f; rc == 0 && (f = readdir(d));) {
        if (!strstr(f->d_name, mine) || !str_ends(str_c(f->d_name), ending)) continue;
        snprintf(from, sizeof from, "%s/%s", rings, f->d_name);
        snprintf(path, sizeof path, "%s/%s", to, f->d_name);
        rc = copy_file(from, path, strcmp(ending, ".ring") == 0);
    }
    if (d) closedir(d);
    return rc;
}

/* Records before what they refer to: that is then all there. */
static int copy_all(const char *run, const char *to)
{
    char rings[PATH_BYTES];
    snprintf(rings, sizeof rings, "%s/rings", run);
    int rc = copy_kind(rings, to, ".ring");
    if (rc == 0) rc = copy_kind(rings, to, ".defs");
    return rc == 0 ? copy_kind(rings, to, ".proc") : rc;
}

static void remove_all(const char *folder)
{
    char path[PATH_BYTES + 260];
    DIR *d = opendir(folder);
    for (struct dirent *f; d && (f = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (f->d_name[0] != '.') unlink(path);
    }
    if (d) closedir(d);
    rmdir(folder);
}

static int make_folder(const char *run, int number, char *ret, size_t cap, struct err *e)
{
    snprintf(ret, cap, "%s/snapshots", run);
    bool made = mkdir(ret, 0700) == 0 || errno == EEXIST;
    snprintf(ret, cap, "%s/snapshots/%ld-%d", run, (long)getpid(), number);
    if (!made || mkdir(ret, 0700) < 0)
        return FAIL(e, ERR_IO, "cannot create %s: %s", ret, strerror(errno));
    return 0;
}

static int write_out(const char *run, const char *folder, struct err *e)
{
    char rings[PATH_BYTES];
    snprintf(rings, sizeof rings, "%s/rings", folder);
    int rc = mkdir(rings, 0700) == 0 ? copy_all(run, rings) : -1;
    if (rc == 0) return 0;
    int error = errno;
    remove_all(rings);
    rmdir(folder);
    return FAIL(e, ERR_IO, "cannot write %s: %s", folder, strerror(error ? error : EIO));
}

static int flight_snapshot(const char *why, char *ret, size_t cap, struct err *e)
{
    const char *run = recorder_dir();
    int number = atomic_load(&n_snapshots) + 1;
    if (!run) return FAIL(e, ERR_IO, "nothing was recorded yet");
    if (number > MOST) return FAIL(e, ERR_LIMIT, "%d snapshots are enough", MOST);
    flight_mark(why);
    usleep(AFTER_MS * 1000);
    for (int i = 0; backends[i]; i++) backends[i]->settle(SETTLE_MS);
    TRY(make_folder(run, number, ret, cap, e));
    atomic_store(&n_snapshots, number);
    int rc = write_out(run, ret, e);
    if (rc < 0) backend_note("a snapshot could not be written: %s", e->msg);
    return rc;
}

static int flight_begin(struct err *e)
{
    return FAIL(e, ERR_USAGE, "it is recorded all the time; ask for what it keeps with --snapshot");
}

static void flight_end(void)
{
}

static const char *flight_state(void)
{
    return "keeping";
}

static int flight_count(void)
{
    return atomic_load(&n_snapshots);
}

static void flight_on_signal(int unused)
{
    (void)unused;
    control_ask_for_snapshot("SIGUSR2");
}

static void listen_for_signal(void)
{
    struct sigaction now, ours = {.sa_handler = flight_on_signal, .sa_flags = SA_RESTART};
    if (sigaction(SIGUSR2, NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
        !(now.sa_flags & SA_SIGINFO))
        sigaction(SIGUSR2, &ours, NULL);
}

static void flight_start_over(void)
{
    atomic_store(&n_snapshots, 0);
}

static void flight_prepare(void)
{
    pthread_atfork(NULL, NULL, flight_start_over);
    listen_for_signal();
}

void flight_start(void)
{
    static const struct control_actions actions = {flight_begin, flight_end, flight_state,
                                                   flight_count, flight_snapshot};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct err e;
    err_init(&e);
    const char *run = getenv("STRATA_RUN");
    pthread_once(&once, flight_prepare);
    if (!run || !*run) return;
    if (control_start(run, &actions, &e) < 0) backend_note("no snapshots: %s", e.msg);
}
