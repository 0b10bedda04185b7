/* cmd_syncs.c: `strata syncs`: where the CPU waits for the device, and what that costs. */
#include "cli/cli.h"
#include "report/view_syncs.h"

static const struct opt opts[] = {
    {"site", 0, "N", "how we know: the evidence for one site, step by step", NULL},
    {"limit", 'n', "N", "sites to show (default 20; 0 = all)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata syncs trace.json.gz",
    "every place where the CPU waits, the costly ones first",
    "strata syncs trace.json.gz --site 1",
    "what happened before, during and after the worst of them",
    NULL,
};

static int show(struct cli *cli, const struct trace *t, struct arena *mem, const struct opts *o,
                struct err *e)
{
    struct basics b;
    struct syncs s;
    struct where w;
    long limit = cli->json ? 0 : 20;
    TRY(opt_long(o, "limit", 0, 1000000, &limit, e));
    TRY(basics_run(t, mem, &b, e));
    TRY(syncs_run(t, &b, mem, &s, e));
    TRY(where_init(&w, t, e));
    struct view_syncs v = {t, &b, &s, &w, (uint32_t)limit, cli->color, cli->width};
    if (cli->json) view_syncs_json(&v, &cli->out);
    else view_syncs_text(&v, &cli->out);
    where_done(&w);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct trace *t;
    struct arena mem;
    TRY(cli_open_trace(cli, o->args[0], &t, e));
    arena_init(&mem);
    int rc = show(cli, t, &mem, o, e);
    arena_done(&mem);
    trace_free(t);
    return rc;
}

const struct cmd cmd_syncs = {
    .name = "syncs",
    .summary = "where the CPU waits for the device, and what that costs",
    .args = "TRACE",
    .about = "Lists every place where the CPU waits.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
