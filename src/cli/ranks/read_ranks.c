/* read_ranks.c: see ranks.h. */
#include "cli/ranks/ranks.h"

#include <string.h>

#include "analyze/ranks/rank_chart.h"
#include "base/jdoc.h"
#include "base/mem.h"
#include "base/pool.h"
#include "cli/show.h"
#include "import/ring/rings.h"

int open_rank(struct cli *cli, struct picked p, struct open_rank *r, struct err *e)
{
    *r = (struct open_rank){0};
    arena_init(&r->mem);
    TRY(cli_open_rank(cli, p.path, p.rank, &r->t, e));
    context_init(&r->cx, r->t, &r->mem);
    return 0;
}

void close_rank(struct open_rank *r)
{
    context_done(&r->cx);
    arena_done(&r->mem);
    trace_free(r->t);
}

/* A few traces are read one after the other, so that what is said of them comes in order. */
#define LEAST_FOR_THREADS 8

/* What became of one trace. */
struct outcome {
    int rc;
    struct err e;
};

/* All traces, on a few threads; each thread has a store of its own. */
struct reading {
    struct cli *cli;
    const struct picked_list *from;
    struct rank_store *stores;
    struct rank_summary *list;
    struct outcome *outcomes;
};

static void read_ranks_summarize(void *reading, int item, int worker)
{
    struct reading *w = reading;
    struct outcome *out = &w->outcomes[item];
    struct rank_summary *s = &w->list[item];
    struct picked p = w->from->list[item];
    struct open_rank r;
    err_init(&out->e);
    out->rc = open_rank(w->cli, p, &r, &out->e);
    if (out->rc == 0) out->rc = rank_summary_run(&r.cx, p.path, &w->stores[worker], s, &out->e);
    if (out->rc == 0) s->part = p.rank;
    close_rank(&r);
}

/* A file that is not a trace is reported and left out: one broken rank of a thousand is normal. */
static int take_good(const struct reading *w, uint32_t *ret_n, struct err *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->from->n; i++) {
        struct outcome *out = &w->outcomes[i];
        if (out->rc == ERR_NOMEM) return err_nomem(e);
        if (out->rc == 0) w->list[n++] = w->list[i];
        else cli_say("%s: %s; left out", w->from->list[i].path, out->e.msg);
    }
    *ret_n = n;
    return n ? 0 : FAIL(e, ERR_FORMAT, "none of the files is a trace");
}

/* The step if no rank came late, from the trace of a rank that does not. */
static int read_ranks_replay(struct cli *cli, const struct rank_set *s, int64_t *ret, struct err *e)
{
    struct open_rank r;
    uint32_t rank;
    *ret = 0;
    /* which stage a pipeline waits for changes with the schedule, which is not replayed */
    if (!s->n_stragglers || s->pipeline.ranks || !rank_replay_pick(s, &rank)) return 0;
    struct picked p = {s->ranks[rank].path, s->ranks[rank].part};
    int rc = open_rank(cli, p, &r, e);
    if (rc == 0) rc = rank_replay_run(&r.cx, s, rank, ret, e);
    close_rank(&r);
    return rc;
}

/* Processes of a recording without ranks belong together. */
static void tell_workers(const struct picked *p, struct arena *mem)
{
    struct ring_survey survey;
    struct err ignored;
    err_init(&ignored);
    if (p->rank >= 0 || !folder_is(p->path) || !rings_in(p->path)) return;
    if (rings_survey(p->path, mem, &survey, &ignored) < 0 || survey.n < 2) return;
    cli_say("%s: its %u processes are not ranks but workers of one program: they are read as one",
            p->path, survey.n);
}

static int read_ranks_read_all(struct cli *cli, const struct picked_list *from,
                               struct read_ranks *ret, struct err *e)
{
    struct arena *mem = &ret->stores[0].mem;
    size_t room = (size_t)from->n + 1;
    struct reading w = {cli, from, ret->stores, arena_zalloc(mem, room, sizeof *w.list), NULL};
    uint32_t n;
    if (w.list) w.outcomes = arena_zalloc(mem, room, sizeof *w.outcomes);
    if (!w.outcomes) return err_nomem(e);
    for (uint32_t i = 0; i < from->n; i++) tell_workers(&from->list[i], mem);
    pool_run(ret->n_stores, (int)from->n, read_ranks_summarize, &w);
    mem_trim();
    TRY(take_good(&w, &n, e));
    TRY(rank_set_run(w.list, n, mem, &ret->set, e));
    ret->view.set = &ret->set;
    return read_ranks_replay(cli, &ret->set, &ret->view.step_without_ns, e);
}

int read_ranks(struct cli *cli, const struct picked_list *from, struct read_ranks *ret,
               struct err *e)
{
    int threads = from->n >= LEAST_FOR_THREADS ? pool_size() : 1;
    *ret = (struct read_ranks){0};
    mem_return_large();
    while (ret->n_stores < threads && ret->n_stores < READ_RANKS_THREADS)
        TRY(rank_store_init(&ret->stores[ret->n_stores++], e));
    return read_ranks_read_all(cli, from, ret, e);
}

void read_ranks_done(struct read_ranks *r)
{
    for (int i = 0; i < r->n_stores; i++) rank_store_done(&r->stores[i]);
}

int read_ranks_show(struct cli *cli, const struct opts *o, const struct picked_list *from,
                    struct err *e)
{
    struct read_ranks r;
    struct screen s;
    const char *html = opt_get(o, "html", NULL), *name = o->n_args == 1 ? o->args[0] : "ranks";
    TRY(html_check(o, e));
    TRY(show_screen(cli, o, 16, &s, e));
    int rc = read_ranks(cli, from, &r, e);
    if (rc == 0 && html) rc = ranks_page_write(cli, &r.view, name, html, e);
    if (rc == 0 && html) html_tell(html);
    if (rc == 0 && cli->json) view_ranks_json(SHOW_JSON(cli), &r.view);
    else if (rc == 0 && opt_has(o, "md")) view_ranks_md(&cli->out, &r.view, name);
    else if (rc == 0 && !html) view_ranks_text(&s, &r.view);
    read_ranks_done(&r);
    return rc;
}

int read_ranks_operands(struct cli *cli, const struct opts *o, struct err *e)
{
    struct picked_list p;
    struct arena mem;
    arena_init(&mem);
    int rc = pick_ranks_of(o->args, o->n_args, &mem, &p, e);
    if (rc == 0) rc = read_ranks_show(cli, o, &p, e);
    arena_done(&mem);
    return rc;
}

/* ---- whether they are ranks */

static bool says_several(struct cli *cli, const char *path)
{
    struct trace *t = NULL;
    struct arena mem;
    struct jdoc d;
    struct err ignored;
    err_init(&ignored);
    arena_init(&mem);
    bool yes = false;
    if (cli_open_summary(cli, path, &t, &ignored) == 0) {
        struct str info = trace_meta(t, "distributedInfo");
        yes =
            info.p && jdoc_parse(info, &mem, &d, NULL) == 0 && jdoc_number(&d, "world_size", 0) > 1;
    }
    trace_free(t);
    arena_done(&mem);
    return yes;
}

/* Ranks of one recording that holds more than their stages. */
static bool are_of_a_recording(const struct picked_list *from)
{
    struct arena mem;
    arena_init(&mem);
    bool yes = from->n > 1 && pick_trace_has_timeline(from->list[0].path, &mem);
    for (uint32_t i = 0; yes && i < from->n; i++)
        yes = from->list[i].rank >= 0 && strcmp(from->list[i].path, from->list[0].path) == 0;
    arena_done(&mem);
    return yes;
}

bool read_ranks_is(struct cli *cli, const struct picked_list *from)
{
    uint32_t named = 0;
    if (are_of_a_recording(from)) return true;
    for (uint32_t i = 0; i < from->n; i++) {
        if (folder_is(from->list[i].path)) return false;
        named += rank_in_name(from->list[i].path) >= 0;
    }
    return from->n > 1 && (named == from->n || says_several(cli, from->list[0].path));
}
