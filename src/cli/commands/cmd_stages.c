/* cmd_stages.c: `strata stages`: what each part of the pipeline costs. */
#include "cli/recording/run_folder.h"
#include "cli/show.h"
#include "import/import.h"
#include "report/lists/views_time.h"

static const struct opt opts[] = {
    {"all", 0, NULL, "show compiled regions and collectives as stages too", NULL},
    {"wide", 'w', NULL, "show the times of single calls, and device and memory, too", NULL},
    {"limit", 0, "N", "number of rows to show, 0 for all (default 40)", NULL},
    {"follow", 0, NULL, "of a run that goes on: show its stages again until it ends", NULL},
    {"every", 0, "TIME", "with --follow: time between two looks (default 2s)", NULL},
    {"prometheus", 0, "FILE", "of a run: write its stages for Prometheus, too", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata stages trace.json.gz",
    "CPU and GPU time of each stage, and of the code between stages",
    "strata stages trace.json.gz --all",
    "the same with the regions of torch.compile",
    "strata stages strata_out/train/20261115_101502",
    "a run of several ranks: how balanced they are, and which one is slow",
    "strata stages strata_out/train/20261115_101502 --follow",
    "the same while it runs: again and again, until it ends",
    NULL,
};

static int cmd_stages_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    cx->all_stages = opt_has(o, "all");
    TRY(context_need(cx, &stages_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    if (cli->json) view_stages_json(SHOW_JSON(cli), NULL, cx);
    else view_stages_text(&s, cx, opt_has(o, "wide"));
    return 0;
}

/* 0 without --follow. */
static int cmd_stages_every(const struct opts *o, double *ret_s, struct err *e)
{
    if (!opt_has(o, "follow")) return 0;
    int64_t ns = 2 * 1000000000LL;
    TRY(opt_time_ns(o, "every", 100000000, 86400 * 1000000000LL, &ns, e));
    *ret_s = (double)ns / 1e9;
    return 0;
}

static int cmd_stages_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct screen s;
    struct follow f = {.folder = o->args[0], .metrics = opt_get(o, "prometheus", NULL)};
    TRY(cmd_stages_every(o, &f.every_s, e));
    bool live = f.metrics || f.every_s > 0;
    if (live && !timing_run_in(f.folder) && !rings_in(f.folder)) {
        err_at(e, f.folder, ERR_NO_OFFSET);
        return FAIL(e, ERR_USAGE, "--follow and --prometheus want the folder of a run");
    }
    if (!live && !timing_run_in(f.folder) && import_recognize(f.folder) != IMPORT_TIMING)
        return show_judged(cli, o, cmd_stages_show, e);
    TRY(show_screen(cli, o, 40, &s, e));
    return live ? follow_run(cli, &f, &s, e) : run_folder_show(cli, f.folder, &s, NULL, e);
}

const struct cmd cmd_stages = {
    .name = "stages",
    .summary = "each stage: CPU, GPU, idle, kernels, syncs, memory",
    .args = "TRACE",
    .about = "Adds up what happens under each label (record_function, NVTX range), by path. CPU "
             "figures are how long the calls took. GPU figures belong to the work launched inside "
             "them, whenever it ran. The two are never added. Backward work launched by autograd "
             "counts for the label that is open on the forward thread. Where no label covers the "
             "work, stages are derived from module and function calls, from steps and layers that "
             "repeat, from forward and backward passes, and from compiled regions. Time between "
             "stages has a row of its own, with the functions it is spent in.\n"
             "For a run folder or a timing.json, the recorded times are shown, all ranks side by "
             "side. While the run goes on, they include what was recorded since the files were "
             "written.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_stages_run,
    .show = cmd_stages_show,
};
