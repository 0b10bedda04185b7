/* install_dirs.c: see install_dirs.h. */
#include "cli/install_dirs.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* From the folder of the program, in this order. */
static const char *const packages[] = {
    "../python",                       /* as built */
    "../lib/strata/python",            /* installed */
    "../lib/python3*/site-packages",   /* in a Python environment */
    "../lib64/python3*/site-packages", /* in one of Fedora's */
    "../lib/python3*/dist-packages",   /* in one of Debian's */
    "..",                              /* pip install --target */
    "../..",                           /* a wheel that was unpacked */
};

/* From a folder of PATH, when the program lies somewhere by itself. */
static const char *const environments[] = {
    "../lib/python3*/site-packages",
    "../lib64/python3*/site-packages",
    "../lib/python3*/dist-packages",
};

/* As the kernel knows it or, where /proc is not there, as it was started. */
const char *install_dirs_self(struct arena *mem)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    if (n > 0 && n < (ssize_t)sizeof self) return arena_strdup(mem, str_from(self, (size_t)n));
    const char *started =
        (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    return started && realpath(started, self) ? arena_strdup(mem, str_c(self)) : NULL;
}

/* A folder, escaped so that glob takes every character literally. */
static const char *install_dirs_literal(struct arena *mem, struct str folder)
{
    char *out = arena_alloc(mem, 2 * folder.n + 1), *end = out;
    if (!out) return NULL;
    for (size_t i = 0; i < folder.n; i++) {
        if (strchr("*?[\\", folder.p[i])) *end++ = '\\';
        *end++ = folder.p[i];
    }
    *end = 0;
    return out;
}

/* The folder with the package in one of the n places that are seen from `from`, or NULL. */
static const char *find_package(struct arena *mem, struct str from, const char *const *places,
                                size_t n)
{
    static const char mark[] = "/strata/_inject/sitecustomize.py";
    const char *folder = from.n ? install_dirs_literal(mem, from) : NULL;
    for (size_t i = 0; folder && i < n; i++) {
        const char *pattern = arena_printf(mem, "%s/%s%s", folder, places[i], mark);
        glob_t found;
        if (!pattern || glob(pattern, 0, NULL, &found) != 0) continue;
        char real[PATH_MAX]; /* without ".." */
        const char *shown = realpath(found.gl_pathv[0], real);
        if (!shown) shown = found.gl_pathv[0];
        const char *path = arena_strdup(mem, str_from(shown, strlen(shown) - strlen(mark)));
        globfree(&found);
        return path;
    }
    return NULL;
}

static const char *find_on_path(struct arena *mem)
{
    const char *at = getenv("PATH"), *found = NULL;
    while (at && *at && !found) {
        size_t n = strcspn(at, ":");
        found = find_package(mem, str_from(at, n), environments, COUNT(environments));
        at += n + (at[n] == ':');
    }
    return found;
}

const char *install_dirs_package(struct arena *mem)
{
    const char *self = install_dirs_self(mem), *slash = self ? strrchr(self, '/') : NULL;
    struct str own = str_from(self, slash ? (size_t)(slash - self) : 0);
    const char *found = find_package(mem, own, packages, COUNT(packages));
    return found ? found : find_on_path(mem);
}
