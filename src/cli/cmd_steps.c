/* cmd_steps.c: `strata steps`: the iterations of the main loop. */
#include "analyze/comm/comm.h"
#include "cli/show.h"
#include "cli/whole.h"
#include "report/view_steps.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of rows to show, 0 for all (default 40)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata steps trace.json.gz",
    "how long each step takes on the CPU and on the GPU",
    "strata steps trace.json.gz --json | jq '.steps[].gpu_us'",
    "the GPU time of each step",
    NULL,
};

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(context_need(cx, &comm_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    if (cli->json) view_steps_json(&cli->out, cx, UINT32_MAX);
    else view_steps_text(&s, cx);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    bool done;
    TRY(whole_show(cli, o, WHOLE_STEPS, &done, e));
    return done ? 0 : show_part(cli, o, show, e);
}

const struct cmd cmd_steps = {
    .name = "steps",
    .summary = "the steps of the loop: CPU, GPU, kernels and syncs per step",
    .args = "TRACE",
    .about =
        "Finds the main loop (denoising steps, training steps, tokens) and measures each step. It "
        "is\n"
        "found from ProfilerStep#, from labels that repeat (two forwards of classifier-free "
        "guidance\n"
        "and one scheduler step make one step), and without either from calls of modules and\n"
        "functions, compiled regions or the sequence of operators and kernels: the outermost\n"
        "repetition, not the layers of a network. One line shows what repeats around and inside "
        "the\n"
        "steps; if nothing repeats, it says so. The GPU side of a step is the work launched "
        "inside\n"
        "it, whenever it ran.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
    .show = show,
};
