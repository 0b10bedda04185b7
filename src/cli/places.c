/* places.c: see places.h. */
#include "cli/places.h"

#include <glob.h>
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
static const char *const libraries[] = {
    "../src/backend", "../lib/strata",
    "../lib/*/strata", /* where libraries have a folder for every machine */
};

const char *places_self(struct arena *mem)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    return n > 0 && n < (ssize_t)sizeof self ? arena_strdup(mem, str_from(self, (size_t)n)) : NULL;
}

/* The folder of this program, written so that glob takes every character for itself. */
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

/* The first of the folders that holds `file`, a path that may go deeper. */
static const char *find(struct arena *mem, const char *const *folders, size_t n, const char *file)
{
    const char *own = own_folder(mem);
    for (size_t i = 0; own && i < n; i++) {
        const char *pattern = arena_printf(mem, "%s/%s/%s", own, folders[i], file);
        glob_t found;
        if (!pattern || glob(pattern, 0, NULL, &found) != 0) continue;
        size_t folder = strlen(found.gl_pathv[0]) - strlen(file) - 1;
        const char *path = arena_strdup(mem, str_from(found.gl_pathv[0], folder));
        globfree(&found);
        return path;
    }
    return NULL;
}

const char *places_package(struct arena *mem)
{
    return find(mem, packages, COUNT(packages), "strata/_inject/sitecustomize.py");
}

const char *places_library(struct arena *mem, const char *name)
{
    const char *folder = find(mem, libraries, COUNT(libraries), name);
    if (folder) return arena_printf(mem, "%s/%s", folder, name);
    const char *package = places_package(mem);
    const char *path = package ? arena_printf(mem, "%s/strata/lib/%s", package, name) : NULL;
    return path && access(path, R_OK) == 0 ? path : NULL;
}
