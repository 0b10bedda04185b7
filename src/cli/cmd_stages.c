/* cmd_stages.c: `strata stages`: what each part of the pipeline costs. */
#include "cli/run_folder.h"
#include "cli/show.h"
#include "report/view_stages.h"

static const struct opt opts[] = {
    {"all", 0, NULL, "show compiled regions and collectives as stages too", NULL},
    {"limit", 0, "N", "number of rows to show, 0 for all (default 40)", NULL},
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

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct screen s;
    if (!timing_run_in(o->args[0]) && !timing_is(o->args[0])) return show_part(cli, o, show, e);
    TRY(show_screen(cli, o, 40, &s, e));
    return run_folder_show(cli, o->args[0], &s, e);
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
        "in. For a run folder, its timing files are shown, all ranks side by side; for a "
        "timing.json,\n"
        "that one.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
