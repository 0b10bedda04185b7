/* places.c: see places.h. */
#include "cli/places.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* From the folder of the program, in this order. */
static const char *const packages[] = {
    "../python",                     /* as built */
    "../lib/strata/python",          /* installed */
    "../lib/python3*/site-packages", /* in a Python environment */
    "../lib/python3*/dist-packages",
};

const char *places_self(struct arena *mem)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    return n > 0 && n < (ssize_t)sizeof self ? arena_strdup(mem, str_from(self, (size_t)n)) : NULL;
}

/* The folder of this program, escaped so that glob takes every character literally. */
static const char *own_folder(struct arena *mem)
{
    const char *self = places_self(mem), *slash = self ? strrchr(self, '/') : NULL;
    char *out = slash ? arena_alloc(mem, 2 * (size_t)(slash - self) + 1) : NULL, *end = out;
    if (!out) return NULL;
    for (; self < slash; self++) {
        if (strchr("*?[\\", *self)) *end++ = '\\';
        *end++ = *self;
    }
    *end = 0;
    return out;
}

const char *places_package(struct arena *mem)
{
    static const char mark[] = "/strata/_inject/sitecustomize.py";
    const char *own = own_folder(mem);
    for (size_t i = 0; own && i < COUNT(packages); i++) {
        const char *pattern = arena_printf(mem, "%s/%s%s", own, packages[i], mark);
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
