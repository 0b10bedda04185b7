/* gpu_ceilings.c: see gpu_tools.h. */
#include "cli/kernels/gpu_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/install_dirs.h"
#include "cli/recording/child.h"

static int read_file(const char *path, struct arena *mem, struct ceilings *c, struct err *e)
{
    struct file_map f;
    TRY(file_map(&f, path, e));
    char *copy = arena_strdup(mem, f.n ? str_from(f.p, f.n) : str_c(""));
    size_t n = f.n;
    file_unmap(&f);
    if (!copy) return err_nomem(e);
    int rc = ceilings_read(c, str_from(copy, n), mem, e);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}

/* Creates the missing folders of `path`. */
static void gpu_ceilings_make_folders(const char *path, struct arena *mem)
{
    char *copy = arena_strdup(mem, str_c(path));
    for (char *p = copy ? strchr(copy + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(copy, 0777);
        *p = '/';
    }
}

/* A machine whose cache cannot be written measures again next time. */
static void gpu_ceilings_keep(struct str text, struct str gpu, struct arena *mem)
{
    const char *path;
    if (ceilings_path(gpu, mem, &path, NULL) < 0 || !path) return;
    gpu_ceilings_make_folders(path, mem);
    if (file_write_whole(path, text.p, text.n, NULL) == 0)
        cli_say("kept the rates this GPU reaches in %s", path);
}

/* The rates as the package's own script prints them; false when it could not. */
static bool run_script(const char *python, struct arena *mem, struct buf *out)
{
    const char *package = install_dirs_package(mem);
    char *args[] = {arena_strdup(mem, str_c(python)),
                    package ? arena_printf(mem, "%s/strata/ceilings.py", package) : NULL, NULL};
    int status = 0;
    return args[0] && args[1] && child_read(args, out, &status, NULL) == 0 && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void gpu_ceilings_measure(const char *python, struct arena *mem, struct ceilings *c)
{
    struct buf out;
    buf_init(&out);
    cli_say("measuring the rates this GPU reaches, once (a few seconds)");
    char *text = run_script(python, mem, &out) ? arena_strdup(mem, buf_str(&out)) : NULL;
    if (text && ceilings_read(c, str_from(text, out.n), mem, NULL) == 0)
        gpu_ceilings_keep(buf_str(&out), c->gpu, mem);
    else cli_say("cannot measure them; using the built-in table of GPUs (or give --ceilings FILE)");
    buf_done(&out);
}

int gpu_ceilings_get(const struct ceilings_wish *w, struct arena *mem, struct ceilings *ret,
                     struct err *e)
{
    ceilings_init(ret, w->gpu);
    bool table = w->file && strcmp(w->file, "table") == 0;
    const char *kept = NULL;
    if (!w->file) TRY(ceilings_path(w->gpu, mem, &kept, e));
    if (w->file && !table) TRY(read_file(w->file, mem, ret, e));
    if (kept && !w->again && access(kept, R_OK) == 0) {
        int rc = read_file(kept, mem, ret, NULL);
        if (rc == ERR_NOMEM) return err_nomem(e);
        if (rc < 0) cli_say("cannot use %s; --calibrate measures again", kept);
    }
    if (ret->memory.from == CEILING_NONE && !w->file && w->python)
        gpu_ceilings_measure(w->python, mem, ret);
    ceilings_from_table(ret);
    return 0;
}

bool gpu_ceilings_kept(struct str gpu, struct arena *mem, struct ceilings *ret)
{
    const char *path;
    ceilings_init(ret, gpu);
    if (ceilings_path(gpu, mem, &path, NULL) < 0 || !path || access(path, R_OK) != 0) return false;
    return read_file(path, mem, ret, NULL) == 0;
}
