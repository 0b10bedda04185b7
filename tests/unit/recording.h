/* recording.h: for tests of the recorder, which is one per process: each scenario runs in a child
 * of its own, and the parent looks at what it left behind. */
#ifndef STRATA_TESTS_RECORDING_H
#define STRATA_TESTS_RECORDING_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "import/import.h"
#include "strata/strata.h"
#include "test.h"

struct folder {
    char path[64];
};

static inline struct folder folder_new(void)
{
    struct folder f = {"/tmp/strata-test-XXXXXX"};
    if (!mkdtemp(f.path)) abort();
    return f;
}

static int folder_remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void folder_done(struct folder *f)
{
    nftw(f->path, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Files in `folder`/rings that end in `ending`; the path of the last one in `ret`, if not NULL. */
static inline int folder_count(const struct folder *f, const char *ending, char ret[512])
{
    char path[512];
    snprintf(path, sizeof path, "%s/rings", f->path);
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!str_ends(str_c(e->d_name), ending)) continue;
        n++;
        if (ret) snprintf(ret, 512, "%s/rings/%s", f->path, e->d_name);
    }
    if (d) closedir(d);
    return n;
}

/* Runs `fn` in a child that leaves by exit, so that exit handlers run; its wait status. */
static inline int in_child(void (*fn)(const char *dir), const char *dir)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) abort();
    if (pid == 0) {
        fn(dir);
        fflush(stdout);
        exit(test_failed_checks ? 1 : 0);
    }
    int status = -1;
    if (waitpid(pid, &status, 0) != pid) abort();
    return status;
}

/* The trace of what `fn` recorded, or NULL. */
static inline struct trace *record_in_child(void (*fn)(const char *dir), struct folder *f)
{
    *f = folder_new();
    CHECK_EQ_INT(in_child(fn, f->path), 0);
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_open(f->path, NULL, &t, &e) < 0) CHECK_EQ_STR(e.msg, "");
    return t;
}

/* The first row called `name`, or ROW_NONE. */
static inline row_t find_row(const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) return r;
    return ROW_NONE;
}

static inline int count_rows(const struct trace *t, const char *name)
{
    int n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += str_is(trace_name(t, r), name);
    return n;
}

static inline bool args_are(const struct trace *t, row_t r, const char *want)
{
    struct buf b;
    buf_init(&b);
    bool ok = CHECK_EQ_INT(trace_args(t, r, &b, NULL), 0) && CHECK_EQ_STR(buf_c(&b), want);
    buf_done(&b);
    return ok;
}

#endif
