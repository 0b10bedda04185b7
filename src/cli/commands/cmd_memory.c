/* cmd_memory.c: `strata memory`: levels, growth, peaks and allocations in the loop. */
#include "cli/input/input.h"
#include "cli/show.h"
#include "report/lists/views_memory.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of rows per table, 0 for all (default 40)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata memory trace.json.gz",
    "does memory grow from step to step, and what allocates in the loop?",
    "strata memory snapshot.pickle --limit 10",
    "who held the memory at the peak and when it ran out, by line",
    NULL,
};

static int cmd_memory_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(context_need(cx, &memory_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    struct view_memory v = {cx, integrity_of(cx), stages_of(cx), memory_of(cx), UINT32_MAX};
    if (cli->json) view_memory_json(SHOW_JSON(cli), NULL, &v);
    else view_memory_text(&s, &v);
    return 0;
}

static int show_held(struct cli *cli, const struct opts *o, const struct snapshot *p, struct err *e)
{
    struct arena mem;
    struct screen s;
    struct held h;
    arena_init(&mem);
    int rc = show_screen(cli, o, cli->json ? 0 : 12, &s, e);
    if (rc == 0) rc = held_run(p, &mem, &h, e);
    if (rc == 0 && cli->json) view_snapshot_json(SHOW_JSON(cli), &h, s.limit);
    else if (rc == 0) view_snapshot_text(&s, &h);
    arena_done(&mem);
    return rc;
}

static int cmd_memory_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct snapshot *p;
    TRY(snapshot_open(cli, o->args[0], &p, e));
    int rc = p ? show_held(cli, o, p, e) : show_part(cli, o, cmd_memory_show, e);
    snapshot_open_end(cli, p);
    return rc;
}

const struct cmd cmd_memory = {
    .name = "memory",
    .summary = "memory at the end of each step, growth, peaks, allocations in the loop",
    .args = "TRACE",
    .about =
        "For a trace: uses the allocator's events (recorded with profile_memory=True). It shows "
        "the level at the end of each step, whether it rises consistently, the peak and its "
        "stage, what the loop allocates and on which line, and calls to the driver's allocator, "
        "which a steady loop does not make.\n"
        "For a PyTorch memory snapshot (torch.cuda.memory._dump_snapshot): shows which code "
        "holds the memory at the peak and whenever it ran out, by line and by purpose (weights, "
        "optimizer, forward, backward), what is unused between blocks, and what grows from round "
        "to round. The pickle is read without executing anything.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_memory_run,
};
