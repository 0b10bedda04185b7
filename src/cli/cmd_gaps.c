/* cmd_gaps.c: `strata gaps`: when devices were idle, and why. */
#include "analyze/quality/integrity.h"
#include "cli/show.h"
#include "report/view_gaps.h"

static const struct opt opts[] = {
    {"min-us", 0, "US", "sum up shorter gaps without analyzing them (default 5)", NULL},
    {"limit", 0, "N", "number of causes to show, 0 for all (default 16)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata gaps trace.json.gz",
    "what the CPU did while the GPU was idle",
    "strata gaps trace.json.gz --min-us 100 --json | jq '.gaps[0]'",
    "the longest gap, split by cause",
    NULL,
};

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 16, &s, e));
    TRY(opt_double(o, "min-us", 0, 1e9, &cx->th.value[TH_GAP_US], e));
    TRY(context_need(cx, &gaps_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    struct view_gaps v = {cx->t, cx, syncs_of(cx), gaps_of(cx)};
    if (cli->json) view_gaps_json(&cli->out, &v);
    else view_gaps_text(&s, &v);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_part(cli, o, show, e);
}

const struct cmd cmd_gaps = {
    .name = "gaps",
    .summary = "when the GPU was idle, and why",
    .args = "TRACE",
    .about =
        "Adds up the time in which no stream of a device had work, between its first and its last\n"
        "work, and splits every gap by cause: what the launching thread did until it launched the\n"
        "work that ended the gap (Python function, operator, guard check, sync, allocation, the\n"
        "profiler itself), and what passed from that launch to its start. The causes add up to "
        "the\n"
        "idle time exactly.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
    .show = show,
};
