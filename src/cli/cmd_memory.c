/* cmd_memory.c: `strata memory`: levels, growth, peaks and allocations in the loop. */
#include "cli/show.h"
#include "report/view_memory.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of rows per table, 0 for all (default 40)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata memory trace.json.gz",
    "does memory grow from step to step, and what allocates in the loop?",
    NULL,
};

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(context_need(cx, &memory_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    struct view_memory v = {cx, integrity_of(cx), stages_of(cx), memory_of(cx), UINT32_MAX};
    if (cli->json) view_memory_json(&cli->out, &v);
    else view_memory_text(&s, &v);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_part(cli, o, show, e);
}

const struct cmd cmd_memory = {
    .name = "memory",
    .summary = "memory at the end of each step, growth, peaks, allocations in the loop",
    .args = "TRACE",
    .about =
        "Uses the allocator's events (recorded with profile_memory=True): the level at the end of\n"
        "each step, whether it rises consistently, the peak and its stage, what the loop "
        "allocates\n"
        "and on which line, and calls to the driver's allocator, which a steady loop does not "
        "make.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
