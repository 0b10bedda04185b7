/* summarize.c: see ranks.h. */
#include "cli/ranks/ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/human.h"
#include "base/intern.h"
#include "base/jout.h"
#include "base/shell.h"
#include "cli/input/input.h"
#include "tables/tables.h"

/* What was written. */
struct entry {
    const char *path, *run;
    int rank;
};

struct work {
    struct cli *cli;
    const struct summarize *in;
    struct arena mem;
    struct intern seen; /* "run/rank" of every entry */
    int next_rank;      /* of traces without one */
    struct entry *list;
    uint32_t n, n_failed;
};

/* The name of the folder that a trace lies in, or of the run folder that it is. */
static const char *run_of(const char *path, struct arena *mem)
{
    char real[PATH_MAX];
    if (!realpath(path, real)) return "run";
    char *slash = strrchr(real, '/');
    if (!folder_is(real)) {
        *slash = 0;
        slash = strrchr(real, '/');
    }
    return arena_strdup(mem, str_c(slash ? slash + 1 : "run"));
}

/* 1 when the rank was not there yet, 0 when it was. */
static int summarize_claim(struct work *w, const char *run, int rank, struct err *e)
{
    struct arena_mark mark = arena_mark(&w->mem);
    const char *key = arena_printf(&w->mem, "%s/%d", run, rank);
    uint32_t n = w->seen.n;
    str_id id = key ? intern_add(&w->seen, str_c(key)) : STR_NONE;
    arena_reset_to(&w->mem, mark);
    return id == STR_NONE ? err_nomem(e) : id == n;
}

static int choose_rank(struct work *w, const char *run, struct rank_summary *r, struct err *e)
{
    int rc = 0;
    if (r->rank >= 0) rc = summarize_claim(w, run, r->rank, e);
    while (r->rank < 0 && rc == 0) {
        rc = summarize_claim(w, run, w->next_rank, e);
        if (rc == 1) r->rank = w->next_rank;
        w->next_rank++;
    }
    if (rc != 0) return rc < 0 ? rc : 0;
    return FAIL(e, ERR_FORMAT, "rank %d of run %s was there already", r->rank, run);
}

/* A file beside the tables says which trace a rank is of: the tables of another one are not
 * replaced unless that is what is wanted. Readers want nothing but Parquet in the folder of a
 * table. */
static int claim_place(struct work *w, const char *run, int rank, const char *path, struct err *e)
{
    char real[PATH_MAX];
    struct file_map f;
    struct err ignored;
    struct arena_mark mark = arena_mark(&w->mem);
    const char *mine = realpath(path, real) ? real : path;
    char *place = arena_printf(&w->mem, "%s/_traces/run=%s/rank=%d", w->in->folder, run, rank);
    if (!place) return err_nomem(e);
    err_init(&ignored);
    int rc = 0;
    if (!w->in->replace && file_map_found(&f, place, &ignored) == 0) {
        if (f.n && !str_is(str_from(f.p, f.n), mine))
            rc = FAIL(e, ERR_USAGE,
                      "%s holds rank %d of run %s of another trace, %.*s; give this one its own "
                      "--run or --rank, or --replace",
                      w->in->folder, rank, run, (int)f.n, f.p);
        file_unmap(&f);
    }
    if (rc == 0) rc = tables_make_folders(place, e);
    if (rc == 0) rc = file_write_whole(place, mine, strlen(mine), e);
    arena_reset_to(&w->mem, mark);
    return rc;
}

static int write_in(struct work *w, struct context *cx, const char *path, struct rank_store *store,
                    struct err *e)
{
    struct rank_summary r;
    const char *name = w->in->run ? w->in->run : run_of(path, &w->mem);
    const char *run = name ? tables_run_name(name, &w->mem) : NULL;
    if (!run) return err_nomem(e);
    TRY(rank_summary_run(cx, path, store, &r, e));
    TRY(choose_rank(w, run, &r, e));
    TRY(claim_place(w, run, r.rank, path, e));
    TRY(tables_write(&(struct tables_in){cx, &r}, w->in->folder, run, e));
    w->list[w->n++] = (struct entry){path, run, r.rank};
    return 0;
}

static int write_rank(struct work *w, struct context *cx, const char *path, struct err *e)
{
    struct rank_store store;
    int rc = rank_store_init(&store, e);
    if (rc == 0) rc = write_in(w, cx, path, &store, e);
    rank_store_done(&store);
    return rc;
}

static int one_trace(struct work *w, struct picked p, struct err *e)
{
    struct trace *t = NULL;
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    int rc = cli_open_rank(w->cli, p.path, p.rank, &t, e);
    context_init(&cx, t, &mem);
    if (rc == 0) rc = write_rank(w, &cx, p.path, e);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
    return rc;
}

/* One broken rank of a thousand is normal; a disk that is full is not. */
static int all_traces(struct work *w, const struct picked_list *paths, struct err *e)
{
    w->list = arena_zalloc(&w->mem, (size_t)paths->n + 1, sizeof *w->list);
    if (!w->list) return err_nomem(e);
    for (uint32_t i = 0; i < paths->n; i++) {
        int rc = one_trace(w, paths->list[i], e);
        if (rc == ERR_NOMEM || (rc == ERR_IO && paths->n == 1)) return rc;
        if (rc == 0) continue;
        if (paths->n == 1) return rc;
        cli_say("%s: %s; left out", paths->list[i].path, e->msg);
        err_init(e);
        w->n_failed++;
    }
    return 0;
}

static void summarize_show_json(const struct work *w)
{
    struct jout j;
    jout_init(&j, &w->cli->out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "folder", w->in->folder);
    jout_arr(&j, "ranks");
    for (uint32_t i = 0; i < w->n; i++) {
        jout_obj(&j, NULL);
        jout_cstr(&j, "trace", w->list[i].path);
        jout_cstr(&j, "run", w->list[i].run);
        jout_int(&j, "rank", w->list[i].rank);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_uint(&j, "failed", w->n_failed);
    jout_end_obj(&j);
}

static void summarize_show_text(const struct work *w)
{
    struct buf *out = &w->cli->out;
    int n_tables = 0;
    while (tables[n_tables]) n_tables++;
    buf_printf(out, "%s   %s rank%s, %d tables each\n", w->in->folder, human_count(w->n).s,
               w->n == 1 ? "" : "s", n_tables);
    buf_printf(out, "\nnext: strata sql %s --query ranks\n", shell_word(w->in->folder).s);
}

static int run_all(struct work *w, const struct opts *o, struct err *e)
{
    struct picked_list paths;
    TRY(pick_ranks_of(o->args, o->n_args, &w->mem, &paths, e));
    TRY(all_traces(w, &paths, e));
    if (w->n) (w->cli->json ? summarize_show_json : summarize_show_text)(w);
    if (!w->n_failed) return 0;
    return FAIL(e, ERR_FORMAT, "%s of %s traces left out", human_count(w->n_failed).s,
                human_count(paths.n).s);
}

int summarize_run(struct cli *cli, const struct opts *o, const struct summarize *in, struct err *e)
{
    struct work w = {.cli = cli, .in = in, .next_rank = in->rank};
    arena_init(&w.mem);
    int rc = intern_init(&w.seen) ? err_nomem(e) : run_all(&w, o, e);
    intern_done(&w.seen);
    arena_done(&w.mem);
    return rc;
}
