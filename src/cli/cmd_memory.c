/* cmd_memory.c: `strata memory`: levels, growth, peaks and allocations in the loop. */
#include "cli/show.h"
#include "report/view_memory.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "rows of a table to show, 0 for all (default 40)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata memory trace.json.gz",
    "does memory grow from step to step, and who allocates in the loop",
    NULL,
};

static int show(struct cli *cli, const struct opts *o, const struct trace *t, struct arena *mem,
                struct err *e)
{
    struct basics b;
    struct integrity i;
    struct stages stages;
    struct memory memory;
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(basics_run(t, mem, &b, e));
    TRY(integrity_run(&b, mem, &i, e));
    TRY(stages_run(&b, false, mem, &stages, e));
    TRY(memory_run(&b, &stages, mem, &memory, e));
    struct view_memory v = {&b, &i, &stages, &memory};
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
        "Follows the allocator's events (recorded with profile_memory=True): the level at the end\n"
        "of each step, whether it rises consistently, the peak and the stage it falls in, what\n"
        "the loop allocates and from which line, and calls to the driver's allocator, which a\n"
        "steady loop does not make.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
