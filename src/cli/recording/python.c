/* python.c: see child.h. The package comes with a sitecustomize that Python loads first; it adds
 * the package to the path and then loads the program's own. */
#include "cli/recording/child.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/install_dirs.h"

bool python_prepare(struct arena *mem)
{
    const char *self = install_dirs_self(mem), *package = install_dirs_package(mem);
    if (!self || !package) return false;
    setenv("STRATA_BIN", self, 1);
    const char *old = getenv("PYTHONPATH");
    const char *path =
        arena_printf(mem, "%s/strata/_inject%s%s", package, old && *old ? ":" : "", old ? old : "");
    if (path) setenv("PYTHONPATH", path, 1);
    return path != NULL;
}

/* A value that starts with a dash could be taken for an option. Times are given in seconds. */
static char *python_joined(const struct opts *o, int i, struct arena *mem)
{
    const char *value = o->value[i];
    int64_t ns = 0;
    /* times were checked by the command */
    if (value && strcmp(o->opt[i]->arg, "TIME") == 0 && units_time_ns(value, "", &ns, NULL) == 0)
        return arena_printf(mem, "--%s=%.9g", o->opt[i]->name, (double)ns / 1e9);
    return value ? arena_printf(mem, "--%s=%s", o->opt[i]->name, value)
                 : arena_printf(mem, "--%s", o->opt[i]->name);
}

/* The command line of the Python program, NULL when out of memory. */
static char **command_line(const char *module, const struct cli *cli, const struct opts *o,
                           struct arena *mem)
{
    char **argv = arena_zalloc(mem, (size_t)o->n + (size_t)o->n_args + 8, sizeof *argv);
    if (!argv) return NULL;
    int n = 0;
    argv[n++] = arena_strdup(mem, str_c(opt_get(o, "python", "python3")));
    argv[n++] = (char *)"-m";
    argv[n++] = (char *)module;
    for (int i = 0; i < o->n; i++) {
        if (strcmp(o->opt[i]->name, "python") == 0 || strcmp(o->opt[i]->name, "color") == 0)
            continue;
        argv[n++] = python_joined(o, i, mem);
    }
    if (cli->color) argv[n++] = (char *)"--color";
    argv[n++] = (char *)"--";
    for (int i = 0; i < o->n_args; i++) argv[n++] = o->args[i];
    for (int i = 0; i < n; i++)
        if (!argv[i]) return NULL;
    return argv;
}

static int python_start(const struct python_front *front, const struct cli *cli,
                        const struct opts *o, struct arena *mem, struct err *e)
{
    if (!python_prepare(mem))
        return FAIL(e, ERR_UNSUPPORTED,
                    "cannot find the Python package next to this program: install both with `pip "
                    "install .` in the source tree, or run `python -m %s` where it is installed",
                    front->module);
    char **argv = command_line(front->module, cli, o, mem);
    if (!argv) return err_nomem(e);
    setenv("STRATA", "off", 1); /* nothing may be recorded during a measurement */
    int status = 0;
    struct err why;
    err_init(&why);
    if (child_run(argv, false, &status, &why) < 0)
        return FAIL(e, ERR_USAGE, "%s: use --python to name %s", why.msg, front->wanted);
    return child_end_alike(status);
}

int python_front_run(const struct python_front *front, const struct cli *cli, const struct opts *o,
                     struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = python_start(front, cli, o, &mem, e);
    arena_done(&mem);
    return rc;
}
