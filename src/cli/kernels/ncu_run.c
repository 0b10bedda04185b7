/* ncu_run.c: see gpu_tools.h. The report goes into a folder of its own that is removed at the end,
 * unless the user wants to keep it. */
#include "cli/kernels/gpu_tools.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/recording/child.h"
#include "dive/ncu_args.h"

/* ---- finding it ---- */

static bool can_run(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static const char *ncu_run_on_path(const char *name, struct arena *mem)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        const char *file = arena_printf(mem, "%.*s/%s", (int)n, path, name);
        if (n && file && can_run(file)) return file;
        path += n + (path[n] == ':');
    }
    return NULL;
}

/* The newest match of a pattern: the last one by name. */
static const char *by_pattern(const char *pattern, struct arena *mem)
{
    glob_t g;
    const char *found = NULL;
    if (glob(pattern, 0, NULL, &g) != 0) return NULL;
    for (size_t i = g.gl_pathc; i-- > 0 && !found;)
        if (can_run(g.gl_pathv[i])) found = arena_strdup(mem, str_c(g.gl_pathv[i]));
    globfree(&g);
    return found;
}

const char *ncu_run_find(struct arena *mem)
{
    static const char *const places[] = {"/usr/local/cuda/bin/ncu", "/usr/local/cuda-*/bin/ncu",
                                         "/opt/nvidia/nsight-compute/*/ncu"};
    const char *named = getenv("STRATA_NCU");
    if (named && *named) return can_run(named) ? named : NULL;
    const char *found = ncu_run_on_path("ncu", mem);
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++)
        found = by_pattern(places[i], mem);
    return found;
}

/* ---- reading a report ---- */

static int read_csv(struct str text, struct arena *mem, struct ncu_report *ret, struct err *e)
{
    char *copy = arena_strdup(mem, text);
    if (!copy) return err_nomem(e);
    return ncu_csv_read(str_from(copy, text.n), mem, ret, e);
}

static int import_report(const char *ncu, const char *path, struct arena *mem,
                         struct ncu_report *ret, struct err *e)
{
    char **args;
    struct buf out;
    int status = 0;
    TRY(ncu_args_import(ncu, path, mem, &args, e));
    buf_init(&out);
    int rc = child_read(args, &out, &status, e);
    if (rc == 0 && ncu_csv_is(buf_str(&out))) rc = read_csv(buf_str(&out), mem, ret, e);
    else if (rc == 0) {
        struct ncu_trouble t = ncu_log_trouble(buf_str(&out), mem);
        rc = FAIL(e, ERR_FORMAT, "%s cannot read it: %s", ncu,
                  t.what ? t.what : "it printed no table");
    }
    buf_done(&out);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}

bool ncu_run_is_report(const char *path)
{
    struct file_map f;
    if (str_ends(str_c(path), ".ncu-rep")) return true;
    if (file_map_found(&f, path, NULL) < 0) return false;
    bool is = f.n && ncu_csv_is(str_from(f.p, f.n));
    file_unmap(&f);
    return is;
}

int ncu_run_read(const char *path, struct arena *mem, struct ncu_report *ret, struct err *e)
{
    if (str_ends(str_c(path), ".ncu-rep")) {
        const char *ncu = ncu_run_find(mem);
        if (access(path, R_OK) != 0) return FAIL(e, ERR_IO, "%s: cannot read the file", path);
        if (!ncu)
            return FAIL(
                e, ERR_UNSUPPORTED,
                "%s: reading it needs Nsight Compute, but ncu is not on the path. Where it is "
                "installed, run: ncu --import %s --page raw --csv > kernels.csv",
                path, path);
        return import_report(ncu, path, mem, ret, e);
    }
    struct file_map f;
    TRY(file_map(&f, path, e));
    int rc = f.n > CHILD_MOST_BYTES ? FAIL(e, ERR_LIMIT, "too large for a table of launches")
                                    : read_csv(str_from(f.p, f.n), mem, ret, e);
    file_unmap(&f);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}

/* ---- measuring ---- */

struct session {
    const char *ncu, *folder, *report, *log;
    const struct ncu_run *wish;
    struct arena *mem;
};

static int open_session(struct session *s, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = arena_printf(s->mem, "%s/strata-dive-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!folder) return err_nomem(e);
    if (!mkdtemp(folder)) return FAIL(e, ERR_IO, "cannot create the folder %s", folder);
    s->folder = folder;
    s->report = arena_printf(s->mem, "%s/kernels.ncu-rep", folder);
    s->log = arena_printf(s->mem, "%s/ncu.log", folder);
    return s->report && s->log ? 0 : err_nomem(e);
}

static void close_session(const struct session *s)
{
    unlink(s->report);
    unlink(s->log);
    rmdir(s->folder);
}

/* Whether a Python file of the command marks what to measure. */
static bool is_marked(char **command)
{
    for (int i = 0; command[i]; i++) {
        struct file_map f;
        if (!str_ends(str_c(command[i]), ".py") || file_map_found(&f, command[i], NULL) < 0)
            continue;
        struct str text = str_from(f.p, f.n);
        bool marked =
            f.n && (str_has(text, "cuda.profiler.start") || str_has(text, "cudaProfilerStart") ||
                    str_has(text, "cuda.profiler.profile"));
        file_unmap(&f);
        if (marked) return true;
    }
    return false;
}

static struct ncu_trouble read_log(const struct session *s)
{
    struct file_map f;
    if (file_map_found(&f, s->log, NULL) < 0) return (struct ncu_trouble){0};
    struct ncu_trouble t = ncu_log_trouble(f.n ? str_from(f.p, f.n) : str_c(""), s->mem);
    file_unmap(&f);
    return t;
}

/* Why there is nothing to read, or NULL. A program that fails after its kernels were measured still
 * leaves a report. */
static struct ncu_trouble why_nothing(const struct session *s, int status)
{
    struct ncu_trouble t = read_log(s);
    bool there = access(s->report, R_OK) == 0;
    if (there) return (struct ncu_trouble){0};
    if (t.what) return t;
    if (WIFSIGNALED(status))
        return (struct ncu_trouble){
            arena_printf(s->mem, "Nsight Compute was killed by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status))),
            "run it again; fewer kernels (--limit 1) need less memory and time"};
    return (struct ncu_trouble){
        arena_printf(s->mem, "the program ended with status %d and Nsight Compute left no report",
                     WEXITSTATUS(status)),
        "check that the program runs without strata and uses the GPU"};
}

static int keep_report(const struct session *s, struct err *e)
{
    struct file_map f;
    if (!s->wish->keep) return 0;
    TRY(file_map_found(&f, s->report, e));
    int rc = file_write_whole(s->wish->keep, f.p, f.n, e);
    file_unmap(&f);
    return rc;
}

/* Runs the program under ncu, once. */
static int run_once(const struct session *s, const struct targets *targets, bool marked,
                    int *ret_status, struct err *e)
{
    char **args;
    long asked = s->wish->skip;
    struct ncu_wish w = {.ncu = s->ncu,
                         .report = s->report,
                         .log = s->log,
                         .replay = s->wish->replay,
                         .skip = asked >= 0 ? (uint32_t)asked
                                 : marked   ? 0
                                            : ncu_args_skip(targets),
                         .count = ncu_args_count(targets),
                         .marked = marked,
                         .major = s->wish->major,
                         .command = s->wish->command};
    TRY(ncu_args_profile(targets, &w, s->mem, &args, e));
    cli_say("measuring %u kernel%s with %s; this slows the program down", targets->n,
            targets->n == 1 ? "" : "s", s->ncu);
    return child_run(args, 1, ret_status, e);
}

/* Reads the report; one that cannot be read is reported like other trouble. */
static int read_report(const struct session *s, struct ncu_report *ret,
                       struct ncu_trouble *ret_trouble, struct err *e)
{
    struct err why;
    err_init(&why);
    TRY(keep_report(s, e));
    int rc = import_report(s->ncu, s->report, s->mem, ret, &why);
    if (rc == ERR_FORMAT)
        *ret_trouble = (struct ncu_trouble){arena_strdup(s->mem, str_c(why.msg)),
                                            "run it again: the report may have been cut short"};
    else if (rc < 0) return FAIL(e, rc, "%s", why.msg);
    return 0;
}

static int ncu_run_measure(const struct session *s, const struct targets *targets,
                           struct ncu_report *ret, struct ncu_trouble *ret_trouble, struct err *e)
{
    int status = 0;
    bool marked = is_marked(s->wish->command);
    setenv("STRATA_DIVE", "1", 1);
    unsetenv("CUDA_INJECTION64_PATH"); /* ncu uses the same variable */
    TRY(run_once(s, targets, marked, &status, e));
    *ret_trouble = why_nothing(s, status);
    if (ret_trouble->nothing_ran && marked) {
        cli_say("nothing ran between the program's own profiler marks; running again without them");
        unlink(s->log);
        TRY(run_once(s, targets, false, &status, e));
        *ret_trouble = why_nothing(s, status);
    }
    if (ret_trouble->what) return 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        cli_say("the program failed under ncu; showing what was measured until then");
    return read_report(s, ret, ret_trouble, e);
}

int ncu_run_profile(const struct ncu_run *r, const struct targets *targets, struct arena *mem,
                    struct ncu_report *ret, struct ncu_trouble *ret_trouble, struct err *e)
{
    struct session s = {.ncu = ncu_run_find(mem), .wish = r, .mem = mem};
    *ret = (struct ncu_report){0};
    *ret_trouble = (struct ncu_trouble){0};
    if (!s.ncu) {
        *ret_trouble =
            (struct ncu_trouble){"Nsight Compute is not installed: `ncu` is not on the path",
                                 "install it (it comes with the CUDA toolkit: apt install "
                                 "nsight-compute), set STRATA_NCU to its path, "
                                 "or measure elsewhere and read the report with --ncu"};
        return 0;
    }
    TRY(open_session(&s, e));
    int rc = ncu_run_measure(&s, targets, ret, ret_trouble, e);
    close_session(&s);
    return rc;
}
