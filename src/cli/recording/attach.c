/* attach.c: see recordable.h. The script is handed over by the process's own interpreter: only the
 * same version may do that. */
#include "cli/recording/recordable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/enter_process.h"
#include "cli/cli.h"
#include "cli/install_dirs.h"
#include "cli/recording/child.h"
#include "format/control.h"
#include "record/rundir.h"

enum {
    TRIES = 50,
    PYTHON_TRIES = 20, /* until its main thread runs Python code */
    TRY_MS = 100,
    LAST_OTHER = 13, /* of CPython's versions 3.N, those that take no scripts */
};

/* It imports nothing that is not there already but strata, and says nothing if that fails. Its
 * variables: the package, and the run. */
static const char script[] =
    "def enter(package, run):\n"
    "    import os, sys\n"
    "    before = os.environ.get('STRATA_RUN', '')\n"
    "    if os.path.exists(os.path.join(before, 'control', str(os.getpid()))):\n"
    "        with open(os.path.join(run, '" CONTROL_WAITS_IN "'), 'w') as f:\n"
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

static bool attach_is_python(long pid, char *exe, size_t cap)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    ssize_t n = readlink(path, exe, cap - 1);
    exe[n > 0 ? n : 0] = 0;
    const char *name = strrchr(exe, '/');
    return name && strncmp(name + 1, "python", 6) == 0;
}

/* As a literal of Python's. */
static const char *attach_quoted(struct arena *mem, const char *text)
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
    const char *package = install_dirs_package(mem);
    if (!package) return FAIL(e, ERR_UNSUPPORTED, "the Python package of strata is not installed");
    const char *folder = attach_quoted(mem, package);
    FILE *f = fopen(path, "wxe");
    if (!f) return FAIL(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(f, script, folder, attach_quoted(mem, run));
    return fclose(f) == 0 ? 0 : FAIL(e, ERR_IO, "cannot write %s", path);
}

/* Hands the script over; ERR_UNSUPPORTED for an interpreter that takes none. */
static int attach_hand_over(char *exe, long pid, const char *path, struct arena *mem, struct err *e)
{
    char *code = arena_printf(mem,
                              "import sys\n"
                              "if sys.version_info < (3, 14): sys.exit(1)\n"
                              "sys.remote_exec(%ld, %s)",
                              pid, attach_quoted(mem, path));
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

/* The folder in which it waits since it was entered before; NULL when it has not said that. */
static const char *waits_in(const char *run, struct arena *mem)
{
    char path[RUNDIR_MAX + sizeof CONTROL_WAITS_IN], before[RUNDIR_MAX];
    snprintf(path, sizeof path, "%s/" CONTROL_WAITS_IN, run);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(before, 1, sizeof before - 1, f) : 0;
    if (f) fclose(f);
    before[n] = 0;
    return n ? arena_printf(mem, "%s", before) : NULL;
}

static void remove_folder(const char *run)
{
    char path[RUNDIR_MAX + sizeof CONTROL_WAITS_IN];
    snprintf(path, sizeof path, "%s/" CONTROL_WAITS_IN, run);
    unlink(path);
    rmdir(run);
}

/* Whether it waits by now; 0 also when it does not. */
static int attach_wait(const char *run, int tries, struct arena *mem, struct recordables *ret,
                       struct err *e)
{
    for (int i = 0; i < tries; i++) {
        const char *before = waits_in(run, mem);
        TRY(recordables_of_run(before ? before : run, mem, ret, e));
        if (ret->n) return 0;
        usleep(TRY_MS * 1000);
    }
    return 0;
}

/* The words that run the script, on a thread of its own; nothing of them stays behind. */
static const char *attach_words(const char *path, bool on_a_thread, struct arena *mem)
{
    const char *file = attach_quoted(mem, path);
    const char *inner = arena_printf(mem,
                                     "try:\n"
                                     " with open(%s) as f: exec(compile(f.read(), %s, 'exec'), "
                                     "{'__name__': 'strata_enter'})\n"
                                     "except BaseException: pass\n",
                                     file, file);
    if (!inner) return NULL;
    return arena_printf(mem,
                        on_a_thread ? "__import__('_thread').start_new_thread(exec, (%s, {}))\n"
                                    : "exec(%s, {})\n",
                        attach_quoted(mem, inner));
}

static void attach_tell(long pid, const struct enter_cost *c)
{
    cli_say("entered process %ld: thread %ld was held for %.2f ms (%u stops, the longest %.2f ms)",
            pid, c->tid, (double)c->held_ns / 1e6, c->n_stops, (double)c->longest_ns / 1e6);
}

/* Through ptrace: its interpreter if that runs, else the library. */
static int attach_enter(long pid, const char *file, const char *run, struct arena *mem,
                        struct recordables *ret, struct err *e)
{
    const char *package = install_dirs_package(mem);
    struct enter_request r = {
        .pid = pid,
        .python = attach_words(file, true, mem),
        .library = arena_printf(mem, "%s/strata/libstrata_inject.so", package),
        .run = run,
    };
    struct enter_cost cost;
    bool python = false;
    if (!r.python || !r.library) return err_nomem(e);
    TRY(enter_process_python(&r, &python, &cost, e));
    if (python) {
        TRY(attach_wait(run, PYTHON_TRIES, mem, ret, e));
        if (ret->n) attach_tell(pid, &cost);
        if (ret->n) return 0;
    }
    if (!(r.python = attach_words(file, false, mem))) return err_nomem(e);
    TRY(enter_process_native(&r, &cost, e));
    attach_tell(pid, &cost);
    if (python) usleep(3 * TRY_MS * 1000); /* for its Python side */
    return attach_wait(run, TRIES, mem, ret, e);
}

/* Its version, as its file is called: 0 where that says nothing. */
static long attach_minor(const char *exe)
{
    const char *at = strstr(strrchr(exe, '/'), "python3.");
    return at ? strtol(at + 8, NULL, 10) : 0;
}

static int attach_by(long pid, const char *file, const char *run, struct arena *mem,
                     struct recordables *ret, struct err *e)
{
    char exe[4096];
    bool asks = attach_is_python(pid, exe, sizeof exe) &&
                (attach_minor(exe) == 0 || attach_minor(exe) > LAST_OTHER);
    struct err unused;
    err_init(&unused);
    if (asks && attach_hand_over(exe, pid, file, mem, &unused) == 0)
        TRY(attach_wait(run, TRIES, mem, ret, e));
    else TRY(attach_enter(pid, file, run, mem, ret, e));
    if (ret->n) return 0;
    return FAIL(e, ERR_IO,
                "process %ld has taken the request but does not answer: it runs no "
                "Python code just now, or has another strata",
                pid);
}

int attach_process(long pid, struct arena *mem, struct recordables *ret, struct err *e)
{
    char run[RUNDIR_MAX];
    struct rundir_request where = {NULL, getenv("STRATA_OUT"), "entered"};
    TRY(target_check(pid, e));
    const char *own = recordable_own_run(pid, mem);
    if (own)
        return FAIL(e, ERR_USAGE,
                    "process %ld records its timeline itself (strata run --level timeline), to %s",
                    pid, own);
    TRY(rundir_make(&where, run, e));
    char *file = arena_printf(mem, "%s/.enter.py", run);
    if (!file) return err_nomem(e);
    int rc = write_script(file, run, mem, e);
    if (rc == 0) rc = attach_by(pid, file, run, mem, ret, e);
    unlink(file);
    if (rc < 0 || waits_in(run, mem)) remove_folder(run);
    return rc;
}
