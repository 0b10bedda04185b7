/* timing_run.c: the timing files of a run folder; see timing.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "format/timing.h"

enum { MOST_RANKS = 1 << 16 };

static bool is_timing(const char *name)
{
    struct str s = str_c(name);
    return str_starts(s, "timing") && str_ends(s, ".json") && !str_has(s, "signature");
}

bool timing_run_in(const char *folder)
{
    DIR *d = opendir(folder);
    if (!d) return false;
    bool found = false;
    for (struct dirent *f; !found && (f = readdir(d));) found = is_timing(f->d_name);
    closedir(d);
    return found;
}

static int by_rank(const void *a, const void *b)
{
    const struct timing *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return strcmp(x->file, y->file);
}

/* Names first, in order: what the folder gives them in says nothing. */
static int list_names(const char *folder, struct arena *mem, char ***names, size_t *n,
                      struct err *e)
{
    size_t cap = 0;
    DIR *d = opendir(folder);
    if (!d) return 0;
    int rc = 0;
    for (struct dirent *f; rc == 0 && (f = readdir(d));) {
        if (!is_timing(f->d_name)) continue;
        if (*n >= MOST_RANKS) rc = FAIL(e, ERR_LIMIT, "%s has too many files", folder);
        else if (VEC_RESERVE(*names, *n, cap, 1) ||
                 !((*names)[*n] = arena_printf(mem, "%s/%s", folder, f->d_name)))
            rc = err_nomem(e);
        else ++*n;
    }
    closedir(d);
    return rc;
}

int timing_run_read(const char *folder, struct arena *mem, struct timing_run *ret, struct err *e)
{
    char **names = NULL;
    size_t n = 0;
    *ret = (struct timing_run){0};
    int rc = list_names(folder, mem, &names, &n, e);
    if (rc == 0 && !(ret->list = arena_zalloc(mem, n, sizeof *ret->list))) rc = err_nomem(e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct err why;
        err_init(&why);
        int one = timing_read(names[i], mem, &ret->list[ret->n], &why);
        if (one == ERR_NOMEM) rc = err_nomem(e);
        else if (one < 0) ret->n_bad++;
        else ret->n++;
    }
    mem_free(names);
    if (rc == 0 && ret->n) qsort(ret->list, ret->n, sizeof *ret->list, by_rank);
    return rc;
}
