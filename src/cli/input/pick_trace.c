/* pick_trace.c: see input.h. */
#include "cli/input/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "import/import.h"
#include "import/ring/rings.h"

/* A file that is given twice counts as one run: statistics over it would find any difference to be
 * real. */
static int operands_are_different(char *const *paths, uint32_t n, struct err *e)
{
    enum { MOST = 256 }; /* more are refused by every command */
    struct stat a, b;
    for (uint32_t i = 1; i < n && i < MOST; i++)
        for (uint32_t k = 0; k < i; k++)
            if (stat(paths[i], &a) == 0 && stat(paths[k], &b) == 0 && a.st_ino == b.st_ino &&
                a.st_dev == b.st_dev)
                return FAIL(e, ERR_USAGE,
                            "%s is given twice on one side: every run counts once, so give "
                            "another recording of the same program",
                            paths[i]);
    return 0;
}

int operands_split(const struct opts *o, struct operands *ret, struct err *e)
{
    int vs = -1;
    for (int i = 0; i < o->n_args; i++)
        if (strcmp(o->args[i], "vs") == 0) vs = i;
    if (vs < 0 && o->n_args != 2)
        return FAIL(e, ERR_USAGE,
                    "give BEFORE and AFTER, or several per side with 'vs' between them");
    if (vs == 0 || vs == o->n_args - 1)
        return FAIL(e, ERR_USAGE, "there is nothing on one side of 'vs'");
    int from = vs < 0 ? 1 : vs + 1;
    *ret = (struct operands){{o->args, o->args + from},
                             {vs < 0 ? 1 : (uint32_t)vs, (uint32_t)(o->n_args - from)}};
    for (int k = 0; k < 2; k++) TRY(operands_are_different(ret->paths[k], ret->n[k], e));
    return 0;
}

struct found {
    const char **list;
    size_t n, cap;
};

bool pick_trace_is(const char *path)
{
    return import_recognize(path) == IMPORT_TRACE;
}

static bool pick_trace_has_file(const char *folder, const char *name, struct arena *mem)
{
    const char *path = arena_printf(mem, "%s/%s", folder, name);
    return path && access(path, R_OK) == 0;
}

bool pick_trace_is_run(const char *folder)
{
    return import_recognize(folder) == IMPORT_RUN;
}

bool pick_trace_has_timeline(const char *folder, struct arena *mem)
{
    struct ring_survey survey;
    if (pick_trace_has_file(folder, IMPORT_TORCH_TRACE, mem)) return true;
    if (!rings_in(folder)) return pick_trace_has_file(folder, "trace.strata", mem);
    if (rings_survey(folder, mem, &survey, NULL) < 0) return false;
    for (uint32_t i = 0; i < survey.n; i++)
        if (survey.list[i].has_timeline) return true;
    return false;
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
        if (folder_is(path) ? pick_trace_is_run(path) : pick_trace_is(path))
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
    int rc = !folder_is(path) || pick_trace_is_run(path) ? add_found(&f, path, e)
             : folder_is(profiles)                       ? look_in(profiles, 1, mem, &f, e)
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
static const char *pick_trace_newest(const struct folder_list *all)
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
    if (!folder_is(path) || pick_trace_is_run(path)) return 0;
    TRY(pick_traces(path, mem, &all, e));
    *ret = pick_trace_newest(&all);
    if (all.n > 1)
        cli_say(
            "%s has %u traces; reading the newest, %s (strata report --ranks reads all, if they "
            "are ranks of one program)",
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

static int pick_trace_by_number(const void *a, const void *b)
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
    if (n) qsort(list, n, sizeof *list, pick_trace_by_number);
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
    int *ranks = NULL;
    uint32_t n = 0;
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
