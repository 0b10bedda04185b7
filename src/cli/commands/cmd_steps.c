/* cmd_steps.c: `strata steps`: the iterations of the main loop. */
#include "analyze/comm/comm.h"
#include "cli/input/input.h"
#include "cli/show.h"
#include "report/lists/views_time.h"

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

static int cmd_steps_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(context_need(cx, &comm_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    if (cli->json) view_steps_json(SHOW_JSON(cli), NULL, cx, UINT32_MAX);
    else view_steps_text(&s, cx);
    return 0;
}

static int cmd_steps_run(struct cli *cli, const struct opts *o, struct err *e)
{
    bool done;
    TRY(whole_show(cli, o, WHOLE_STEPS, &done, e));
    return done ? 0 : show_part(cli, o, cmd_steps_show, e);
}

const struct cmd cmd_steps = {
    .name = "steps",
    .summary = "the steps of the loop: CPU, GPU, kernels and syncs per step",
    .args = "TRACE",
    .about =
        "Finds the main loop (denoising steps, training steps, tokens) and measures each step. "
        "Steps are found from ProfilerStep#, or from labels that repeat (two forwards of "
        "classifier-free guidance and one scheduler step make one step), or otherwise from "
        "module and function calls, compiled regions, or the sequence of operators and kernels. "
        "A step is the outermost repetition, not a layer of a network. One line shows what "
        "repeats around and inside the steps; if nothing repeats, it says so. The GPU side of a "
        "step is the work launched inside it, whenever it ran. All steps of the recording are listed, "
        "also a slow start that a report leaves out.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_steps_run,
    .show = cmd_steps_show,
};
