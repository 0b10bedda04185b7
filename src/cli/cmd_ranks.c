/* cmd_ranks.c: `strata ranks`: the traces of all ranks of one program, one at a time. */
#include "analyze/ranks/rank_replay.h"
#include "cli/pick_trace.h"
#include "cli/show.h"
#include "report/view_ranks.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of ranks to show, 0 for all (default 16)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata ranks traces/",
    "which rank keeps the others waiting, why, and what it costs",
    "strata ranks rank*.json.gz --json | jq '.stragglers[0]'",
    "the worst one: rank, cause, source line",
    NULL,
};

/* One trace under analysis, while it is open. */
struct open_rank {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static int open_rank(struct cli *cli, struct picked p, struct open_rank *r, struct err *e)
{
    *r = (struct open_rank){0};
    arena_init(&r->mem);
    TRY(cli_open_rank(cli, p.path, p.rank, &r->t, e));
    context_init(&r->cx, r->t, &r->mem);
    return 0;
}

static void close_rank(struct open_rank *r)
{
    context_done(&r->cx);
    arena_done(&r->mem);
    trace_free(r->t);
}

/* A file that is not a trace is reported and left out: one broken rank of a thousand is normal. */
static int summarize(struct cli *cli, struct picked p, struct rank_store *store,
                     struct rank_summary *list, uint32_t *n, struct err *e)
{
    struct open_rank r;
    int rc = open_rank(cli, p, &r, e);
    if (rc == 0) rc = rank_summary_run(&r.cx, p.path, store, &list[*n], e);
    if (rc == 0) list[(*n)++].part = p.rank;
    close_rank(&r);
    if (rc == ERR_NOMEM || rc == 0) return rc;
    cli_say("%s: %s; left out", p.path, e->msg);
    err_init(e);
    return 0;
}

/* The step if nobody came late, from the trace of a rank that does not. */
static int replay(struct cli *cli, const struct rank_set *s, int64_t *ret, struct err *e)
{
    struct open_rank r;
    uint32_t rank;
    *ret = 0;
    if (!s->n_stragglers || !rank_replay_pick(s, &rank)) return 0;
    struct picked p = {s->ranks[rank].path, s->ranks[rank].part};
    int rc = open_rank(cli, p, &r, e);
    if (rc == 0) rc = rank_replay_run(&r.cx, s, rank, ret, e);
    close_rank(&r);
    return rc;
}

static int show(struct cli *cli, const struct opts *o, const struct picked_list *p,
                struct rank_store *store, struct err *e)
{
    struct arena *mem = &store->mem;
    struct rank_summary *list = arena_zalloc(mem, (size_t)p->n + 1, sizeof *list);
    struct rank_set set;
    struct screen s;
    uint32_t n = 0;
    if (!list) return err_nomem(e);
    TRY(show_screen(cli, o, 16, &s, e));
    for (uint32_t i = 0; i < p->n; i++) TRY(summarize(cli, p->list[i], store, list, &n, e));
    if (!n) return FAIL(e, ERR_FORMAT, "none of the files is a trace");
    TRY(rank_set_run(list, n, mem, &set, e));
    struct view_ranks v = {.set = &set};
    TRY(replay(cli, &set, &v.step_without_ns, e));
    if (cli->json) view_ranks_json(&cli->out, &v);
    else view_ranks_text(&s, &v);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct picked_list p;
    struct rank_store store;
    int rc = rank_store_init(&store, e);
    if (rc == 0) rc = pick_ranks_of(o->args, o->n_args, &store.mem, &p, e);
    if (rc == 0) rc = show(cli, o, &p, &store, e);
    rank_store_done(&store);
    return rc;
}

const struct cmd cmd_ranks = {
    .name = "ranks",
    .summary = "many ranks at once: who comes late to collectives, and why",
    .args = "FOLDER | TRACE ...",
    .about =
        "Reads the traces of all ranks, one at a time, and keeps a small summary of each. "
        "Collectives are matched by process group and number (where those were recorded, else by "
        "order), the clocks of the ranks are aligned on their ends.\n"
        "For each collective it shows how long the transfer takes, who came last and by how much; "
        "for each rank that keeps the others waiting, why: slower kernels, more work, a sync, the "
        "DataLoader, garbage collection, launches; and how long a step would take without it.\n"
        "Ranks are numbered by the traces themselves or by their file names (rank3.json); missing "
        "and duplicate ranks are reported.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
