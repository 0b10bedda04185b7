/* cmd_compare.c: `strata compare`: two runs by their timing.json. */
#include "analyze/compare/timing_diff.h"
#include "cli/run_folder.h"
#include "cli/show.h"
#include "report/view_compare.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of rows to show, 0 for all (default 40)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata compare before/timing.json after/timing.json",
    "which stages changed, and whether it is more than chance",
    "strata compare strata_out/flux/20261115_101502 strata_out/flux/20261115_103310",
    "the same by run folder; with several ranks the slowest counts",
    NULL,
};

static int compare(struct cli *cli, const struct opts *o, struct arena *mem, struct err *e)
{
    struct timing before, after;
    struct timing_diff d;
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(run_folder_timing(o->args[0], mem, &before, e));
    TRY(run_folder_timing(o->args[1], mem, &after, e));
    TRY(timing_diff_run(&before, &after, mem, &d, e));
    if (cli->json) view_compare_json(&cli->out, &d);
    else view_compare_text(&s, &d);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = compare(cli, o, &mem, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_compare = {
    .name = "compare",
    .summary = "two runs stage by stage, from their timing.json",
    .args = "BEFORE AFTER",
    .about = "Compares the stages of two runs: calls, median time per call, peak memory. A change "
             "counts as\n"
             "faster or slower if the mean moved by more than the scatter of the calls (99 %) and "
             "by at\n"
             "least 1 %; with fewer than three calls per side there is no verdict. To compare "
             "traces, with\n"
             "kernels and gaps, use strata diff.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
