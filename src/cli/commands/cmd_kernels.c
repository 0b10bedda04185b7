/* cmd_kernels.c: `strata kernels`: what each kernel costs and how well it uses the device. */
#include <string.h>

#include "analyze/comm/messages.h"
#include "analyze/kernels/headroom.h"
#include "analyze/kernels/known.h"
#include "analyze/quality/integrity.h"
#include "cli/input/input.h"
#include "cli/show.h"
#include "report/lists/views_kernels.h"

/* Rows whose headroom is replayed. */
#define ROOF_ROWS 24

static const struct opt opts[] = {
    {"sort", 's', "KEY",
     "largest first: total, calls, mean, median, p95, max, occupancy, gb_per_s, tflop_per_s, "
     "headroom; or name",
     NULL},
    {"limit", 'n', "N", "number of rows to show, 0 for all (default 40; all with --json)", NULL},
    {"by", 'b', "WHAT",
     "group by name, or by name and launch configuration, operator, shapes of its inputs, module or "
     "line of the program",
     "name|config|op|shape|module|line"},
    {"filter", 'f', "REGEX", "only kernels whose name or family matches", NULL},
    {"roof", 'r', NULL,
     "show the rate reached as a share of the roofline, and what the rest would gain in wall time",
     NULL},
    {"wide", 'w', NULL,
     "show every column: operator, mean, max, family, grid, block, registers, shared memory", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata kernels trace.json.gz",
    "kernels, copies and memsets by total time",
    "strata kernels trace.json.gz --filter gemm --sort tflop_per_s",
    "matrix multiplications by achieved rate (of torch.profiler: needs record_shapes=True)",
    "strata kernels trace.json.gz --roof",
    "how close each kernel is to the roofline, and the headroom that leaves",
    "strata kernels trace.json.gz --by config --limit 10",
    "the ten most expensive launches, shape by shape",
    "strata kernels trace.json.gz --by line",
    "which lines of the program hold the GPU's time",
    NULL,
};

static enum kernel_by cmd_kernels_by_of(const struct opts *o)
{
    static const char *const words[] = {"name", "config", "op", "shape", "module", "line"};
    const char *word = opt_get(o, "by", "name");
    int i = KERNEL_BY_LINE;
    while (i > 0 && strcmp(word, words[i]) != 0) i--;
    return (enum kernel_by)i;
}

static int cmd_kernels_show(struct cli *cli, const struct opts *o, struct context *cx,
                            struct err *e)
{
    struct kernel_stats k;
    struct screen s;
    const char *filter = opt_get(o, "filter", NULL);
    bool roof = opt_has(o, "roof");
    TRY(show_screen(cli, o, cli->json ? 0 : 40, &s, e));
    if (cli->json) TRY(context_need(cx, &messages_pass, e));
    if (cli->json) TRY(context_need(cx, &integrity_pass, e));
    TRY(context_need(cx, &known_pass, e));
    TRY(kernel_stats_run(cx, cmd_kernels_by_of(o), cx->mem, &k, e));
    struct kernels_how how = {cmd_kernels_by_of(o), opt_has(o, "wide"),
                              roof ? roofline_of(cx) : NULL};
    uint32_t before = k.n_rows;
    if (filter) TRY(kernel_stats_filter(&k, filter, e));
    if (filter && before && !k.n_rows)
        cli_say("no kernel here has '%s' in its name or family", filter);
    if (roof) TRY(headroom_run(cx, &k, ROOF_ROWS, e));
    TRY(kernel_stats_sort(&k, opt_get(o, "sort", roof ? "headroom" : "total"), e));
    if (cli->json) view_kernels_json(SHOW_JSON(cli), NULL, cx, &k, s.limit);
    else view_kernels_text(&s, cx, &k, &how);
    return 0;
}

static int cmd_kernels_run(struct cli *cli, const struct opts *o, struct err *e)
{
    bool done;
    TRY(whole_show(cli, o, WHOLE_KERNELS, &done, e));
    return done ? 0 : show_judged(cli, o, cmd_kernels_show, e);
}

const struct cmd cmd_kernels = {
    .name = "kernels",
    .summary = "every kernel and copy: time, spread, occupancy, achieved rate",
    .args = "TRACE",
    .about =
        "Adds up device work by kernel: calls, total, median, 95th percentile, share of all device "
        "work, and the operator that launches it. Work replayed from CUDA graphs is included.\n"
        "Occupancy, and what limits it, is computed from registers, threads, shared memory and "
        "grid, even where the recorder wrote 0. Copies show bytes over their own time; matrix "
        "multiplications show FLOP/s, other kernels the bytes they need, if the trace has shapes.\n"
        "--roof compares that with what the GPU reaches (as `strata dive` measured it, else a "
        "built-in table) and replays the trace with the kernels at that rate.\n"
        "Names are shortened to the template and the functor it applies; --json has the full "
        "names.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_kernels_run,
    .show = cmd_kernels_show,
};
