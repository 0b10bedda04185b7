/* mcp_folder.c: see mcp_private.h. The worker that opens a path is shut in by the kernel besides,
 * where that can do it (mcp_private.h): a path may change after it was examined. */
#include "cli/mcp/mcp_private.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/jout.h"
#include "base/map.h"
#include "cli/input/input.h"

enum { LEVELS = 2, MOST_LISTED = 2000 };

static const char *real_path(const char *path, struct arena *mem)
{
    char real[PATH_MAX];
    return realpath(path, real) ? arena_strdup(mem, str_c(real)) : NULL;
}

int mcp_folders_init(struct mcp_folders *f, char *const *paths, int n, struct arena *mem,
                     struct err *e)
{
    *f = (struct mcp_folders){0};
    for (int i = 0; i < n; i++) {
        const char *real = real_path(paths[i], mem);
        err_at(e, paths[i], ERR_NO_OFFSET);
        if (!real || !folder_is(real))
            return FAIL(e, ERR_USAGE, "not a folder; name the folders whose traces may be read");
        if (strcmp(real, "/") == 0)
            return FAIL(e, ERR_USAGE, "the root of the file system is not a folder of traces");
        if (f->n == MCP_MOST_FOLDERS)
            return FAIL(e, ERR_USAGE, "at most %d folders", MCP_MOST_FOLDERS);
        f->real[f->n++] = real;
        err_init(e);
    }
    return 0;
}

/* The folder that holds `real`, or NULL. */
static const char *mcp_folder_holder(const struct mcp_folders *f, const char *real)
{
    for (uint32_t i = 0; i < f->n; i++) {
        size_t n = strlen(f->real[i]);
        if (strncmp(real, f->real[i], n) == 0 && (real[n] == '/' || !real[n])) return f->real[i];
    }
    return NULL;
}

static uint64_t signature_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0) return 0;
    uint64_t s = map_mix((uint64_t)st.st_size ^ map_mix((uint64_t)st.st_ino));
    return map_mix(s ^ (uint64_t)st.st_mtim.tv_sec * 1000000007u ^ (uint64_t)st.st_mtim.tv_nsec);
}

/* Everything below a folder stays inside; its signature is that of all it holds. */
static int check_below(const struct mcp_folders *f, const char *folder, int levels,
                       struct arena *mem, uint64_t *signature, struct err *e)
{
    struct folder_list inside;
    TRY(folder_list_run(folder, mem, &inside, e));
    for (uint32_t i = 0; i < inside.n; i++) {
        struct stat st;
        const char *path = inside.paths[i];
        if (lstat(path, &st) < 0) continue;
        const char *real = S_ISLNK(st.st_mode) ? real_path(path, mem) : path;
        if (S_ISLNK(st.st_mode) && (!real || !mcp_folder_holder(f, real)))
            return FAIL(e, ERR_USAGE,
                        "'%s' is a link that leads nowhere, or out of the folders of this server",
                        path);
        *signature = map_mix(*signature ^ signature_of(path));
        if (levels > 0 && folder_is(path)) TRY(check_below(f, path, levels - 1, mem, signature, e));
    }
    return 0;
}

static int mcp_folder_refuse(const struct mcp_folders *f, const char *name, const char *why,
                             struct err *e)
{
    return FAIL(e, ERR_USAGE,
                "'%s' %s. This server reads only what lies in %s%s; the tool `traces` lists what "
                "there is",
                name, why, f->real[0], f->n > 1 ? " and its other folders" : "");
}

/* Where `name` may be: itself, or below each folder. */
static const char *mcp_folder_candidate(const struct mcp_folders *f, const char *name, uint32_t i,
                                        struct arena *mem)
{
    if (name[0] == '/') return i == 0 ? name : NULL;
    return i < f->n ? arena_printf(mem, "%s/%s", f->real[i], name) : NULL;
}

int mcp_folder_find(const struct mcp_folders *f, const char *name, struct arena *mem,
                    struct mcp_path *ret, struct err *e)
{
    const char *at;
    if (!name[0]) return mcp_folder_refuse(f, name, "names no trace", e);
    for (uint32_t i = 0; (at = mcp_folder_candidate(f, name, i, mem)) != NULL; i++) {
        const char *real = real_path(at, mem), *top = real ? mcp_folder_holder(f, real) : NULL;
        if (!top) continue;
        size_t n = strlen(top);
        *ret = (struct mcp_path){real, real[n] ? real + n + 1 : ".", signature_of(real)};
        return folder_is(real) ? check_below(f, real, LEVELS, mem, &ret->signature, e) : 0;
    }
    /* whether there is such a file elsewhere is not said */
    return mcp_folder_refuse(f, name, "is not there, or leads out of the folders of this server",
                             e);
}

/* ---- what there is */

struct listing {
    const struct mcp_folders *f;
    struct arena *mem;
    struct jout *j;
    uint32_t n;
};

static void put_trace(struct listing *l, const char *path, const char *kind)
{
    struct stat st;
    const char *top = mcp_folder_holder(l->f, path);
    if (!top || stat(path, &st) < 0 || l->n++ >= MOST_LISTED) return;
    jout_obj(l->j, NULL);
    jout_cstr(l->j, "trace", path[strlen(top)] ? path + strlen(top) + 1 : ".");
    jout_cstr(l->j, "kind", kind);
    jout_int(l->j, "bytes", S_ISDIR(st.st_mode) ? 0 : (int64_t)st.st_size);
    jout_end_obj(l->j);
}

/* Links are left out: what they lead to is listed where it lies. */
static int mcp_folder_look(struct listing *l, const char *folder, int levels, struct err *e)
{
    struct folder_list inside;
    TRY(folder_list_run(folder, l->mem, &inside, e));
    for (uint32_t i = 0; i < inside.n && l->n < MOST_LISTED; i++) {
        struct stat st;
        const char *path = inside.paths[i];
        if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode)) continue;
        if (S_ISREG(st.st_mode) && pick_trace_is(path)) put_trace(l, path, "file");
        else if (S_ISDIR(st.st_mode) && pick_trace_is_run(path)) put_trace(l, path, "run");
        else if (S_ISDIR(st.st_mode) && levels > 0) TRY(mcp_folder_look(l, path, levels - 1, e));
    }
    return 0;
}

int mcp_folder_list(const struct mcp_folders *f, struct arena *mem, struct jout *j, struct err *e)
{
    jout_obj(j, NULL);
    jout_arr(j, "traces");
    struct listing l = {f, mem, j, 0};
    for (uint32_t i = 0; i < f->n; i++) {
        if (pick_trace_is_run(f->real[i])) put_trace(&l, f->real[i], "run");
        else TRY(mcp_folder_look(&l, f->real[i], LEVELS, e));
    }
    jout_end_arr(j);
    jout_end_obj(j);
    return 0;
}
