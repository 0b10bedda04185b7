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
