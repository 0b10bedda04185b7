/* enter.c: see enter.h. The script is handed over by the process's own interpreter: only the same
 * version may do that. */
#include "cli/enter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/places.h"
#include "record/rundir.h"

enum { TRIES = 50, TRY_MS = 100 };

/* Where a process that was entered before waits, in the folder made for it now. */
#define WAITS_IN ".waits_in"

/* It imports nothing that is not there already but strata, and says nothing if that fails. Its
 * variables: the package, and the run. */
static const char script[] =
    "def enter(package, run):\n"
    "    import os, sys\n"
    "    before = os.environ.get('STRATA_RUN', '')\n"
    "    if os.path.exists(os.path.join(before, 'control', str(os.getpid()))):\n"
    "        with open(os.path.join(run, '" WAITS_IN "'), 'w') as f:\n"
    "            f.write(before)\n"
    "        return\n"
    "    sys.path.append(package)\n"
    "    os.environ.update(STRATA_LEVEL='standby', STRATA_RUN=run, STRATA_TABLE='off')\n"
    "    try:\n"
    "        from strata._timeline import standby\n"
    "        standby.enter()\n"
    "    finally:\n"
    "        sys.path.remove(package)\n"
    "enter(%s, %s)\n";

static bool is_python(long pid, char *exe, size_t cap)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    ssize_t n = readlink(path, exe, cap - 1);
    exe[n > 0 ? n : 0] = 0;
    const char *name = strrchr(exe, '/');
    return name && strncmp(name + 1, "python", 6) == 0;
}

/* As a literal of Python's. */
static const char *quoted(struct arena *mem, const char *text)
{
    char *out = arena_alloc(mem, 4 * strlen(text) + 3), *at = out;
    if (!out) return "''";
    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\' || (unsigned char)*text < 32)
            at += snprintf(at, 5, "\\x%02x", (unsigned char)*text);
        else *at++ = *text;
    }
    *at++ = '\'';
    *at = 0;
    return out;
}

static int write_script(const char *path, const char *run, struct arena *mem, struct err *e)
{
    const char *package = places_package(mem);
    if (!package) return FAIL(e, ERR_UNSUPPORTED, "the Python package of strata is not installed");
    const char *folder = quoted(mem, package);
    FILE *f = fopen(path, "wxe");
    if (!f) return FAIL(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(f, script, folder, quoted(mem, run));
    return fclose(f) == 0 ? 0 : FAIL(e, ERR_IO, "cannot write %s", path);
}

/* Hands the script over; ERR_UNSUPPORTED for an interpreter that takes none. */
static int hand_over(char *exe, long pid, const char *path, struct arena *mem, struct err *e)
{
    char *code = arena_printf(mem,
                              "import sys\n"
                              "if sys.version_info < (3, 14): sys.exit(1)\n"
                              "sys.remote_exec(%ld, %s)",
                              pid, quoted(mem, path));
    if (!code) return err_nomem(e);
    char isolated[] = "-I", command[] = "-c";
    char *argv[] = {exe, isolated, command, code, NULL};
    int status = 0;
    struct buf said;
    buf_init(&said);
    int rc = child_read(argv, &said, &status, e);
    buf_done(&said);
    if (rc < 0) return rc;
    if (status == 0) return 0;
    return FAIL(e, ERR_UNSUPPORTED,
                "process %ld was not started with strata run --level standby, and its Python "
                "cannot be entered while it runs: that takes Python 3.14 or later, the same user, "
                "and no PYTHON_DISABLE_REMOTE_DEBUG",
                pid);
}

/* The folder in which it waits since it was entered before; NULL when it has not said so. */
static const char *waits_in(const char *run, struct arena *mem)
{
    char path[RUNDIR_MAX + sizeof WAITS_IN], before[RUNDIR_MAX];
    snprintf(path, sizeof path, "%s/" WAITS_IN, run);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(before, 1, sizeof before - 1, f) : 0;
    if (f) fclose(f);
    before[n] = 0;
    return n ? arena_printf(mem, "%s", before) : NULL;
}

static void remove_folder(const char *run)
{
    char path[RUNDIR_MAX + sizeof WAITS_IN];
    snprintf(path, sizeof path, "%s/" WAITS_IN, run);
    unlink(path);
    rmdir(run);
}

static int wait_for_it(long pid, const char *run, struct arena *mem, struct recordables *ret,
                       struct err *e)
{
    for (int i = 0; i < TRIES; i++) {
        const char *before = waits_in(run, mem);
        TRY(recordables_of_run(before ? before : run, mem, ret, e));
        if (ret->n) return 0;
        usleep(TRY_MS * 1000);
    }
    return FAIL(e, ERR_IO,
                "process %ld has taken the request but does not answer: it runs no "
                "Python code just now, or has another strata",
                pid);
}

int enter_process(long pid, struct arena *mem, struct recordables *ret, struct err *e)
{
    char exe[4096], path[64], run[RUNDIR_MAX];
    struct rundir_request where = {NULL, getenv("STRATA_OUT"), "entered"};
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld", pid);
    if (stat(path, &st) < 0) return FAIL(e, ERR_USAGE, "there is no process %ld", pid);
    if (!is_python(pid, exe, sizeof exe))
        return FAIL(e, ERR_UNSUPPORTED,
                    "process %ld does not wait to be recorded. Start the program with strata run "
                    "--level standby -- COMMAND; strata ps lists those that were",
                    pid);
    TRY(rundir_make(&where, run, e));
    char *file = arena_printf(mem, "%s/.enter.py", run);
    if (!file) return err_nomem(e);
    int rc = write_script(file, run, mem, e);
    if (rc == 0) rc = hand_over(exe, pid, file, mem, e);
    if (rc == 0) rc = wait_for_it(pid, run, mem, ret, e);
    unlink(file);
    if (rc < 0 || waits_in(run, mem)) remove_folder(run);
    return rc;
}
