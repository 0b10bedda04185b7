/* cmd_compare.c: `strata compare`: two runs by their timing.json. */
#include "analyze/compare/timing_diff.h"
#include "cli/run_folder.h"
#include "cli/show.h"
#include "cli/sides.h"
#include "report/view_compare.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of rows to show, 0 for all (default 40)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata compare before1 before2 before3 vs after1 after2 after3",
    "which stages changed, and whether it is more than chance: three or more runs per side",
    "strata compare strata_out/flux strata_out/flux_fast",
    "the same with all runs in two folders",
    "strata compare before/timing.json after/timing.json",
    "two runs: what changed, without a verdict",
    NULL,
};

/* All runs of one side: files, run folders, or folders of runs. */
static int read_side(char **paths, uint32_t n, struct arena *mem, struct timing_side *ret,
                     struct err *e)
{
    struct timing *runs = arena_zalloc(mem, TIMING_MOST_RUNS, sizeof *runs);
    if (!runs) return err_nomem(e);
    *ret = (struct timing_side){runs, 0};
    for (uint32_t i = 0; i < n; i++)
        TRY(run_folder_timings(paths[i], mem, runs, TIMING_MOST_RUNS, &ret->n, e));
    return 0;
}

static int compare(struct cli *cli, const struct opts *o, struct arena *mem, struct err *e)
{
    struct sides sides;
    struct timing_side before, after;
    struct timing_diff d;
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(sides_split(o, &sides, e));
    TRY(read_side(sides.paths[0], sides.n[0], mem, &before, e));
    TRY(read_side(sides.paths[1], sides.n[1], mem, &after, e));
    TRY(timing_diff_run(before, after, mem, &d, e));
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
    .args = "BEFORE AFTER | BEFORE ... vs AFTER ...",
    .about = "Compares the stages of runs: calls, median time per call, peak memory. Every run is "
             "one sample\n"
             "per stage, its median call. A change counts as faster or slower if the 99 % interval "
             "of the\n"
             "ratio of both sides does not contain zero and it is at least 1 %; with fewer than "
             "three runs\n"
             "per side there is no verdict, because two runs of one program differ as well. A side "
             "is a\n"
             "timing.json, a run folder (with several ranks the slowest counts) or a folder of "
             "runs. To\n"
             "compare traces, with kernels and gaps, use strata diff.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 2,
    .max_args = -1,
    .run = run,
};
