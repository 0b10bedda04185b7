/* cmd_launches.c: `strata launches`: launch latency, queue depth, whether the CPU runs ahead. */
#include "cli/show.h"
#include "report/view_launches.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of rows per table, 0 for all (default 40)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata launches trace.json.gz",
    "is the GPU starved, and which stages are launch-bound?",
    NULL,
};

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(context_need(cx, &launches_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    struct view_launches v = {cx->t, integrity_of(cx), stages_of(cx), launches_of(cx)};
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
    .summary = "launch latency, queue depth, and whether the CPU runs ahead",
    .args = "TRACE",
    .about =
        "Splits the time from a launch to the start of its kernel into launch latency (the stream\n"
        "was idle) and waiting in the queue (the stream was busy, which is healthy: the CPU runs\n"
        "ahead). Shows the queue depth over time, which stages are launch-bound, and what each\n"
        "kind of launch call costs the CPU. A graph launch counts as one launch with many kernels.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
