/* timing_run.c: the timing files of a run folder; see timing.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "format/timing.h"

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

static int timing_run_by_rank(const void *a, const void *b)
{
    const struct timing *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return strcmp(x->file, y->file);
}

static const char *timing_run_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int timing_run_read(const char *folder, struct arena *mem, struct timing_run *ret, struct err *e)
{
    struct folder_list files;
    *ret = (struct timing_run){0};
    if (timing_is(folder)) {
        ret->list = arena_zalloc(mem, 1, sizeof *ret->list);
        if (!ret->list) return err_nomem(e);
        ret->n = 1;
        return timing_read(folder, mem, ret->list, e);
    }
    TRY(folder_list_run(folder, mem, &files, e));
    ret->list = arena_zalloc(mem, files.n + (size_t)1, sizeof *ret->list);
    if (!ret->list) return err_nomem(e);
    for (uint32_t i = 0; i < files.n; i++) {
        struct err why;
        err_init(&why);
        if (!is_timing(timing_run_name_of(files.paths[i]))) continue;
        int one = timing_read(files.paths[i], mem, &ret->list[ret->n], &why);
        if (one == ERR_NOMEM) return err_nomem(e);
        if (one < 0) ret->n_bad++;
        else ret->n++;
    }
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, timing_run_by_rank);
    return 0;
}
