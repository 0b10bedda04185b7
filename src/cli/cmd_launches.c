/* cmd_launches.c: `strata launches`: launch latency, queue depth, who is ahead. */
#include "cli/show.h"
#include "report/view_launches.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "rows of a table to show, 0 for all (default 40)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata launches trace.json.gz",
    "is the GPU starved, and which stages are bound by launches",
    NULL,
};

static int show(struct cli *cli, const struct opts *o, const struct trace *t, struct arena *mem,
                struct err *e)
{
    struct basics b;
    struct integrity i;
    struct stages stages;
    struct launches launches;
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(basics_run(t, mem, &b, e));
    TRY(stages_run(&b, false, mem, &stages, e));
    TRY(launches_run(&b, &stages, mem, &launches, e));
    TRY(integrity_run(&b, mem, &i, e));
    struct view_launches v = {t, &i, &stages, &launches};
    if (cli->json) view_launches_json(&cli->out, &v);
    else view_launches_text(&s, &v);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_part(cli, o, show, e);
}

const struct cmd cmd_launches = {
    .name = "launches",
    .summary = "launch latency, queue depth, and who is ahead: CPU or GPU",
    .args = "TRACE",
    .about =
        "Splits the time from a launch to the start of its kernel into what a launch costs (the\n"
        "stream was idle) and waiting in the queue (the stream was busy, which is good: the CPU\n"
        "is ahead). Shows the depth of the queue over time, which stages are bound by their\n"
        "launches, and what each kind of launch call costs the CPU. A graph launch counts as\n"
        "one launch with many kernels.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
