/* pick_trace.c: see pick_trace.h. */
#include "cli/pick_trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "import/import.h"
#include "import/native.h"
#include "import/nsys.h"
#include "import/nsys_parquet.h"
#include "import/pftrace.h"
#include "import/rings.h"
#include "import/rocprof.h"
#include "import/xplane.h"

enum { SNIFFED = 4096 };

struct found {
    const char **list;
    size_t n, cap;
};

static bool is_compressed(struct str head)
{
    return head.n > 4 &&
           (memcmp(head.p, "\x1f\x8b", 2) == 0 || memcmp(head.p, "\x28\xb5\x2f\xfd", 4) == 0);
}

/* What a compressed file holds is judged by its name. */
static bool is_named_like_trace(const char *path)
{
    static const char *const parts[] = {".json", ".pftrace", ".xplane.pb", ".sqlite",
                                        ".db.",  ".rpd",     ".strata",    NULL};
    for (int i = 0; parts[i]; i++)
        if (str_has(str_c(path), parts[i])) return true;
    return false;
}

bool pick_trace_is(const char *path)
{
    struct file_map f;
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || file_map(&f, path, NULL) < 0) return false;
    struct str head = str_from(f.p, f.n < SNIFFED ? f.n : SNIFFED);
    bool yes = import_native.sniff(head) || import_nsys.sniff(head) || import_xplane.sniff(head) ||
               import_pftrace.sniff(head);
    if (is_compressed(head)) yes = is_named_like_trace(path);
    else if (!yes)
        yes = str_has(head, "\"traceEvents\"") || str_has(head, "\"ph\"") ||
              import_rocprof.sniff(head);
    file_unmap(&f);
    return yes;
}

bool pick_trace_is_run(const char *folder, struct arena *mem)
{
    const char *made = arena_printf(mem, "%s/trace.strata", folder);
    const char *torch = arena_printf(mem, "%s/" IMPORT_TORCH_TRACE, folder);
    return (made && access(made, R_OK) == 0) || (torch && access(torch, R_OK) == 0) ||
           rings_in(folder) || nsys_parquet_in(folder);
}

static int add_found(struct found *f, const char *path, struct err *e)
{
    if (VEC_RESERVE(f->list, f->n, f->cap, 1)) return err_nomem(e);
    f->list[f->n++] = path;
    return 0;
}

/* Where there is a profile of XLA, its tools have put parts of it into other files as well. */
static bool has_xplane(const struct folder_list *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (str_ends(str_c(l->paths[i]), ".xplane.pb")) return true;
    return false;
}

static int look_in(const char *folder, int levels, struct arena *mem, struct found *f,
                   struct err *e)
{
    struct folder_list inside;
    TRY(folder_list_run(folder, mem, &inside, e));
    bool xplane = has_xplane(&inside);
    for (uint32_t i = 0; i < inside.n; i++) {
        const char *path = inside.paths[i];
        if (xplane && !str_ends(str_c(path), ".xplane.pb")) continue;
        if (folder_is(path) ? pick_trace_is_run(path, mem) : pick_trace_is(path))
            TRY(add_found(f, path, e));
        else if (folder_is(path) && levels > 0) TRY(look_in(path, levels - 1, mem, f, e));
    }
    return 0;
}

int pick_traces(const char *path, struct arena *mem, struct folder_list *ret, struct err *e)
{
    struct found f = {0};
    const char *profiles = arena_printf(mem, "%s/plugins/profile", path); /* of JAX, TensorFlow */
    if (!profiles) return err_nomem(e);
    int rc = !folder_is(path) || pick_trace_is_run(path, mem) ? add_found(&f, path, e)
             : folder_is(profiles)                            ? look_in(profiles, 1, mem, &f, e)
                                                              : look_in(path, 1, mem, &f, e);
    ret->n = (uint32_t)f.n;
    ret->paths = arena_zalloc(mem, f.n + 1, sizeof *ret->paths);
    if (ret->paths && f.n) memcpy(ret->paths, f.list, f.n * sizeof *f.list);
    if (!ret->paths && rc == 0) rc = err_nomem(e);
    mem_free(f.list);
    if (rc < 0 || ret->n) return rc;
    err_at(e, path, ERR_NO_OFFSET);
    return FAIL(e, ERR_USAGE,
                "this folder has no recordings and no traces; expected a trace file "
                "or a run folder");
}

/* Names come in order: of two that are equally old the last one is taken. */
static const char *newest(const struct folder_list *all)
{
    const char *best = all->paths[0];
    int64_t best_ns = INT64_MIN;
    for (uint32_t i = 0; i < all->n; i++) {
        struct stat st;
        if (stat(all->paths[i], &st) < 0) continue;
        int64_t ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        if (ns < best_ns) continue;
        best = all->paths[i];
        best_ns = ns;
    }
    return best;
}

int pick_trace(const char *path, struct arena *mem, const char **ret, struct err *e)
{
    struct folder_list all;
    *ret = path;
    if (!folder_is(path) || pick_trace_is_run(path, mem)) return 0;
    TRY(pick_traces(path, mem, &all, e));
    *ret = newest(&all);
    if (all.n > 1)
        cli_say("%s has %u traces; reading the newest, %s (strata ranks reads all, if they are "
                "ranks of one program)",
                path, all.n, *ret);
    else cli_say("reading %s", *ret);
    return 0;
}

static int add_list(struct found *f, const struct folder_list *more, struct err *e)
{
    if (VEC_RESERVE(f->list, f->n, f->cap, more->n)) return err_nomem(e);
    for (uint32_t i = 0; i < more->n; i++) f->list[f->n++] = more->paths[i];
    return 0;
}

int pick_traces_of(char *const *paths, int n, struct arena *mem, struct folder_list *ret,
                   struct err *e)
{
    struct found f = {0};
    struct folder_list one;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        rc = pick_traces(paths[i], mem, &one, e);
        if (rc == 0) rc = add_list(&f, &one, e);
    }
    ret->n = (uint32_t)f.n;
    ret->paths = arena_zalloc(mem, f.n + 1, sizeof *ret->paths);
    if (ret->paths && f.n) memcpy(ret->paths, f.list, f.n * sizeof *f.list);
    if (!ret->paths && rc == 0) rc = err_nomem(e);
    mem_free(f.list);
    return rc;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The ranks of a recording, each once; *ret_n is 0 when its processes are none. */
static int ranks_in(const char *path, struct arena *mem, int **ret, uint32_t *ret_n, struct err *e)
{
    struct ring_survey survey = {0};
    *ret_n = 0;
    if (folder_is(path) && rings_in(path)) TRY(rings_survey(path, mem, &survey, e));
    int *list = arena_zalloc(mem, (size_t)survey.n + 1, sizeof *list);
    if (!list) return err_nomem(e);
    uint32_t n = 0, distinct = 0;
    for (uint32_t i = 0; i < survey.n; i++)
        if (survey.list[i].rank >= 0) list[n++] = survey.list[i].rank;
    if (n) qsort(list, n, sizeof *list, by_number);
    for (uint32_t i = 0; i < n; i++)
        if (!distinct || list[distinct - 1] != list[i]) list[distinct++] = list[i];
    *ret = list;
    *ret_n = distinct;
    return 0;
}

struct picking {
    struct picked *list;
    size_t n, cap;
};

static int add_ranks(struct picking *p, const char *path, struct arena *mem, struct err *e)
{
    int *ranks;
    uint32_t n;
    TRY(ranks_in(path, mem, &ranks, &n, e));
    if (VEC_RESERVE(p->list, p->n, p->cap, (size_t)n + 1)) return err_nomem(e);
    for (uint32_t i = 0; i < n; i++) p->list[p->n++] = (struct picked){path, ranks[i]};
    if (!n) p->list[p->n++] = (struct picked){path, -1};
    return 0;
}

int pick_ranks_of(char *const *paths, int n, struct arena *mem, struct picked_list *ret,
                  struct err *e)
{
    struct folder_list all;
    struct picking p = {0};
    TRY(pick_traces_of(paths, n, mem, &all, e));
    int rc = 0;
    for (uint32_t i = 0; i < all.n && rc == 0; i++) rc = add_ranks(&p, all.paths[i], mem, e);
    *ret = (struct picked_list){arena_zalloc(mem, p.n + 1, sizeof *ret->list), (uint32_t)p.n};
    if (ret->list && p.n) memcpy(ret->list, p.list, p.n * sizeof *p.list);
    if (!ret->list && rc == 0) rc = err_nomem(e);
    mem_free(p.list);
    return rc;
}
