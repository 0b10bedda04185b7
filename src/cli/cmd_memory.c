/* cmd_memory.c: `strata memory`: levels, growth, peaks and allocations in the loop. */
#include "cli/look.h"
#include "cli/show.h"
#include "report/view_memory.h"
#include "report/view_snapshot.h"

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

static int show_held(struct cli *cli, const struct opts *o, const struct snapshot *p, struct err *e)
{
    struct arena mem;
    struct screen s;
    struct held h;
    arena_init(&mem);
    int rc = show_screen(cli, o, cli->json ? 0 : 12, &s, e);
    if (rc == 0) rc = held_run(p, &mem, &h, e);
    if (rc == 0 && cli->json) view_snapshot_json(&cli->out, &h, s.limit);
    else if (rc == 0) view_snapshot_text(&s, &h);
    arena_done(&mem);
    return rc;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct snapshot *p;
    TRY(cli_look(cli, o->args[0], &p, e));
    int rc = p ? show_held(cli, o, p, e) : show_part(cli, o, show, e);
    cli_look_end(cli, p);
    return rc;
}

const struct cmd cmd_memory = {
    .name = "memory",
    .summary = "memory at the end of each step, growth, peaks, allocations in the loop",
    .args = "TRACE",
    .about =
        "Of a trace: uses the allocator's events (recorded with profile_memory=True): the level at "
        "the end of\n"
        "each step, whether it rises consistently, the peak and its stage, what the loop "
        "allocates\n"
        "and on which line, and calls to the driver's allocator, which a steady loop does not "
        "make.\n"
        "Of a memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot): who holds the memory "
        "at the peak and whenever it ran out, by line and by what it is for (weights, optimizer, "
        "forward, backward); what lies unused between blocks; what grows from round to round. The "
        "pickle is read without executing anything.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
