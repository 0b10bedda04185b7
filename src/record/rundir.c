/* rundir.c: see rundir.h.
 *
 * Ranks agree through a file beside the run folders, {out}/{pipeline}/.launch-HASH, which holds
 * the name of the folder. The process that links it into place first decides; linking cannot half
 * succeed.
 */
#include "record/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "format/xxh64.h"
#include "record/rank.h"

#define NAME_MAX_BYTES 96
#define OURS_ALONE     0700 /* what is in a run names files, functions and arguments */

static int rundir_fail(const char *path, const char *what, struct err *e)
{
    int error = errno;
    err_at(e, path, ERR_NO_OFFSET);
    return FAIL(e, ERR_IO, "%s: %s", what, strerror(error));
}

void rundir_clean_name(const char *name, char *out, size_t cap)
{
    size_t n = 0;
    if (cap > NAME_MAX_BYTES) cap = NAME_MAX_BYTES;
    for (; *name && n + 1 < cap; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain = c >= 128 || (c > ' ' && c != 127 && c != '/' && c != '\\');
        out[n++] = plain ? (char)c : '_';
    }
    out[n] = 0;
    if (out[0] == '.') out[0] = '_'; /* neither hidden nor a way up */
    if (n == 0) snprintf(out, cap, "run");
}

static int rundir_absolute(const char *path, char *out, struct err *e)
{
    char cwd[RUNDIR_MAX] = "";
    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        return rundir_fail(path, "no current folder", e);
    int n = snprintf(out, RUNDIR_MAX, "%s%s%s", cwd, cwd[0] ? "/" : "", path);
    if (n >= RUNDIR_MAX) return FAIL(e, ERR_LIMIT, "the path of the run folder is too long");
    return 0;
}

/* mkdir -p; the last folder gets the mode `last`. */
static int make_all(const char *path, mode_t last, struct err *e)
{
    char part[RUNDIR_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *p = part + 1;; p++) {
        char c = *p;
        if (c != '/' && c != 0) continue;
        *p = 0;
        struct stat st;
        mode_t mode = c == 0 ? last : 0777;
        int why = mkdir(part, mode) < 0 ? errno : 0;
        if (why && (stat(part, &st) < 0 || !S_ISDIR(st.st_mode))) {
            errno = why == EEXIST ? ENOTDIR : why; /* a file is in the way */
            return rundir_fail(part, "cannot create the folder", e);
        }
        *p = c;
        if (c == 0) return 0;
    }
}

static long zone_seconds; /* east of Greenwich */

void rundir_note_zone(void)
{
    time_t now = time(NULL);
    struct tm t;
    if (localtime_r(&now, &t)) zone_seconds = t.tm_gmtoff;
}

/* The local time as part of a name. The C library's own functions take a lock that a signal handler
 * may wait for in vain, so the days are counted here: in 400 years, from a first of March. */
static void make_stamp(char *ret, size_t cap)
{
    long long at = (long long)time(NULL) + zone_seconds;
    long days = (long)(at / 86400) + 719468, seconds = (long)(at % 86400);
    long era = days / 146097, day = days % 146097;
    long year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    long month = (5 * day + 2) / 153, of_month = day - (153 * month + 2) / 5 + 1;
    snprintf(ret, cap, "%04ld%02ld%02ld_%02ld%02ld%02ld", era * 400 + year + (month >= 10),
             month < 10 ? month + 3 : month - 9, of_month, seconds / 3600, seconds / 60 % 60,
             seconds % 60);
}

/* A new folder under `parent`, named by the time; `ret` gets its name. */
static int make_stamped(const char *parent, char *ret, size_t cap, struct err *e)
{
    char stamp[64], path[RUNDIR_MAX + 64];
    make_stamp(stamp, sizeof stamp);
    for (int i = 1; i < 10000; i++) {
        if (i == 1) snprintf(ret, cap, "%s", stamp);
        else snprintf(ret, cap, "%s_%d", stamp, i);
        snprintf(path, sizeof path, "%s/%s", parent, ret);
        if (mkdir(path, OURS_ALONE) == 0) return 0;
        if (errno != EEXIST) return rundir_fail(path, "cannot create the folder", e);
    }
    return FAIL(e, ERR_LIMIT, "too many runs in one second in %s", parent);
}

/* A run's folder that another process of ours has made: the place where runs are kept may be open
 * to other users. */
static bool is_our_folder(const char *parent, const char *name)
{
    char path[RUNDIR_MAX + 128];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", parent, name);
    return !strchr(name, '/') && name[0] != '.' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid();
}

/* The name in the marker, in `ret`, which stays as it is where there is none of ours. */
static bool read_marker(const char *parent, const char *marker, char *ret, size_t cap)
{
    int fd = fd_open(marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0) return false;
    char name[NAME_MAX_BYTES];
    struct stat st;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    ssize_t n = ours ? read(fd, name, sizeof name - 1) : 0;
    close(fd);
    name[n > 0 ? n : 0] = 0;
    if (n <= 0 || !is_our_folder(parent, name)) return false;
    snprintf(ret, cap, "%s", name);
    return true;
}

/* A new file with an unpredictable name. */
static int make_temp(const char *parent, char *ret, size_t cap, struct err *e)
{
    for (int i = 0; i < 100; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        snprintf(ret, cap, "%s/.launch-%ld-%ld", parent, (long)getpid(), now.tv_nsec);
        int fd = fd_open(ret, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST) return fd >= 0 ? fd : rundir_fail(ret, "cannot write", e);
    }
    return FAIL(e, ERR_IO, "cannot write into %s", parent);
}

/* Puts `name` into the marker, or takes the name that is there already. */
static int rundir_agree(const char *parent, const char *marker, char *name, size_t cap,
                        struct err *e)
{
    char temp[RUNDIR_MAX + 64];
    int fd = make_temp(parent, temp, sizeof temp, e);
    if (fd < 0) return fd;
    size_t n = strlen(name);
    bool ok = write(fd, name, n) == (ssize_t)n;
    ok = close(fd) == 0 && ok;
    if (ok && link(temp, marker) < 0 && errno == EEXIST) {
        char mine[RUNDIR_MAX + 128];
        snprintf(mine, sizeof mine, "%s/%s", parent, name);
        if (read_marker(parent, marker, name, cap)) rmdir(mine);
    }
    unlink(temp);
    return 0;
}

static int rundir_make_shared(const char *parent, const char *key, char *name, size_t cap,
                              struct err *e)
{
    char marker[RUNDIR_MAX + 64];
    snprintf(marker, sizeof marker, "%s/.launch-%016llx", parent,
             (unsigned long long)xxh64(key, strlen(key)));
    if (read_marker(parent, marker, name, cap)) return 0;
    TRY(make_stamped(parent, name, cap, e));
    return rundir_agree(parent, marker, name, cap, e);
}

int rundir_make(const struct rundir_request *r, char *ret, struct err *e)
{
    char path[RUNDIR_MAX], name[NAME_MAX_BYTES], key[512];
    if (r->dir) {
        TRY(rundir_absolute(r->dir, path, e));
        TRY(make_all(path, OURS_ALONE, e));
        memcpy(ret, path, sizeof path);
        return 0;
    }
    TRY(rundir_absolute(r->out ? r->out : "strata_out", path, e));
    rundir_clean_name(r->pipeline ? r->pipeline : program_invocation_short_name, name, sizeof name);
    size_t n = strlen(path);
    if (n + sizeof name * 2 + 2 >= sizeof path)
        return FAIL(e, ERR_LIMIT, "the path of the run folder is too long");
    snprintf(path + n, sizeof path - n, "/%s", name);
    TRY(make_all(path, 0777, e));
    if (rank_launch_key(key, sizeof key)) TRY(rundir_make_shared(path, key, name, sizeof name, e));
    else TRY(make_stamped(path, name, sizeof name, e));
    if (snprintf(ret, RUNDIR_MAX, "%s/%s", path, name) >= RUNDIR_MAX)
        return FAIL(e, ERR_LIMIT, "the path of the run folder is too long");
    return 0;
}
