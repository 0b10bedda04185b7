/* cmd_gaps.c: `strata gaps`: when devices were idle, and why. */
#include "analyze/quality/integrity.h"
#include "cli/show.h"
#include "report/lists/views_waits.h"

static const struct opt opts[] = {
    {"min-us", 0, "US", "sum up shorter gaps without analyzing them (default 5)", NULL},
    {"launches", 0, NULL, "show the launches instead: latency, queue depth, launch-bound stages",
     NULL},
    {"limit", 'n', "N", "causes (default 16) or launching stages (40) to show, 0 for all", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata gaps trace.json.gz",
    "what the CPU did while the GPU was idle",
    "strata gaps trace.json.gz --min-us 100 --json | jq '.gaps[0]'",
    "the longest gap, split by cause",
    "strata gaps trace.json.gz --launches",
    "is the GPU starved, and which stages are launch-bound?",
    NULL,
};

static int cmd_gaps_show_launches(struct cli *cli, const struct opts *o, struct context *cx,
                                  struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(context_need(cx, &launches_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    if (cli->json) view_launches_json(SHOW_JSON(cli), NULL, cx);
    else view_launches_text(&s, cx);
    return 0;
}

static int cmd_gaps_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    if (opt_has(o, "launches")) return cmd_gaps_show_launches(cli, o, cx, e);
    TRY(show_screen(cli, o, 16, &s, e));
    TRY(opt_double(o, "min-us", 0, 1e9, &cx->th.value[TH_GAP_US], e));
    TRY(context_need(cx, &gaps_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    struct view_gaps v = {cx->t, cx, syncs_of(cx), gaps_of(cx)};
    if (cli->json) view_gaps_json(SHOW_JSON(cli), NULL, &v);
    else view_gaps_text(&s, &v);
    return 0;
}

static int cmd_gaps_run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_judged(cli, o, cmd_gaps_show, e);
}

const struct cmd cmd_gaps = {
    .name = "gaps",
    .summary = "when the GPU was idle, and why",
    .args = "TRACE",
    .about =
        "Adds up the time in which no stream of a device had work, between its first and its "
        "last work. Every gap is split by cause: what the launching thread did until it launched "
        "the work that ended the gap (Python function, operator, guard check, sync, allocation, "
        "the profiler itself), and what passed from that launch to its start. The causes add up "
        "to the idle time exactly.\n"
        "--launches splits the time from a launch to the start of its kernel into launch latency "
        "(the stream was idle) and queue wait (the stream was busy, which is healthy: the CPU "
        "runs ahead). It shows the queue depth over time, which stages are launch-bound, and "
        "what each kind of launch call costs the CPU. A graph launch counts as one launch with "
        "many kernels.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_gaps_run,
    .show = cmd_gaps_show,
};
