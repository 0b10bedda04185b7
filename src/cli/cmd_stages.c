/* cmd_stages.c: `strata stages`: what each part of the pipeline costs. */
#include "cli/follow.h"
#include "cli/run_folder.h"
#include "cli/show.h"
#include "report/view_stages.h"

static const struct opt opts[] = {
    {"all", 0, NULL, "show compiled regions and collectives as stages too", NULL},
    {"limit", 0, "N", "number of rows to show, 0 for all (default 40)", NULL},
    {"follow", 0, NULL, "of a run that goes on: show its stages again until it ends", NULL},
    {"every", 0, "SECONDS", "with --follow: time between two looks (default 2)", NULL},
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

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    cx->all_stages = opt_has(o, "all");
    TRY(context_need(cx, &stages_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    struct view_stages v = {cx->t, integrity_of(cx), stages_of(cx)};
    if (cli->json) view_stages_json(&cli->out, &v);
    else view_stages_text(&s, &v);
    return 0;
}

/* 0 without --follow. */
static int every(const struct opts *o, double *ret_s, struct err *e)
{
    if (!opt_has(o, "follow")) return 0;
    *ret_s = 2;
    return opt_double(o, "every", 0.1, 86400, ret_s, e);
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct screen s;
    struct follow f = {.folder = o->args[0], .metrics = opt_get(o, "prometheus", NULL)};
    TRY(every(o, &f.every_s, e));
    bool live = f.metrics || f.every_s > 0;
    if (live && !timing_run_in(f.folder) && !rings_in(f.folder)) {
        err_at(e, f.folder, ERR_NO_OFFSET);
        return FAIL(e, ERR_USAGE, "--follow and --prometheus want the folder of a run");
    }
    if (!live && !timing_run_in(f.folder) && !timing_is(f.folder))
        return show_part(cli, o, show, e);
    TRY(show_screen(cli, o, 40, &s, e));
    return live ? follow_run(cli, &f, &s, e) : run_folder_show(cli, f.folder, &s, e);
}

const struct cmd cmd_stages = {
    .name = "stages",
    .summary = "each stage: CPU, GPU, idle, kernels, syncs, memory",
    .args = "TRACE",
    .about =
        "Adds up what happens under each label (record_function, NVTX range), by path. CPU "
        "figures\n"
        "are how long the calls took; GPU figures belong to the work launched inside them, "
        "whenever\n"
        "it ran; the two are never added. Backward work launched by autograd counts for the label\n"
        "that is open on the forward thread. Where no label covers the work, stages are derived:\n"
        "from calls of modules and functions, steps and layers that repeat, forward and backward,\n"
        "compiled regions. Time between stages has a row of its own, with the functions it is "
        "spent\n"
        "in. For a run folder, its timing files are shown, all ranks side by side, while it runs "
        "with\n"
        "what was recorded since they were written; for a timing.json, that one.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
    .show = show,
};
