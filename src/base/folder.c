/* folder.c: see folder.h. */
#include "base/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"

enum { MOST_NAMES = 1 << 16 };

bool folder_is(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int folder_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The paths, on the heap. */
static int folder_collect(const char *folder, struct arena *mem, const char ***paths, size_t *n,
                          struct err *e)
{
    size_t cap = 0, length = strlen(folder);
    DIR *d = opendir(folder);
    if (!d) return 0;
    bool slash = length && folder[length - 1] == '/';
    int rc = 0;
    for (struct dirent *f; rc == 0 && (f = readdir(d));) {
        if (f->d_name[0] == '.') continue;
        if (*n >= MOST_NAMES) rc = FAIL(e, ERR_LIMIT, "%s has too many files", folder);
        else if (VEC_RESERVE(*paths, *n, cap, 1) ||
                 !((*paths)[*n] = arena_printf(mem, "%s%s%s", folder, slash ? "" : "/", f->d_name)))
            rc = err_nomem(e);
        else ++*n;
    }
    closedir(d);
    return rc;
}

int folder_list_run(const char *folder, struct arena *mem, struct folder_list *ret, struct err *e)
{
    const char **paths = NULL;
    size_t n = 0;
    *ret = (struct folder_list){0};
    int rc = folder_collect(folder, mem, &paths, &n, e);
    if (rc == 0 && !(ret->paths = arena_alloc(mem, (n + 1) * sizeof *ret->paths)))
        rc = err_nomem(e);
    if (rc == 0 && n) {
        memcpy(ret->paths, paths, n * sizeof *paths);
        qsort(ret->paths, n, sizeof *ret->paths, folder_by_name);
    }
    if (rc == 0) ret->n = (uint32_t)n;
    mem_free(paths);
    return rc;
}
