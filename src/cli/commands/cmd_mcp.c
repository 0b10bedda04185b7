/* cmd_mcp.c: `strata mcp`: the analysis for assistants, over the Model Context Protocol. */
#include <unistd.h>

#include "cli/cli.h"
#include "cli/mcp/mcp_private.h"

static const struct opt opts[] = {
    {"open", 0, "N", "number of traces kept open between calls (default 4)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata mcp traces/",
    "serve the traces in this folder, on standard input and output",
    "claude mcp add strata -- strata mcp \"$PWD/strata_out\"",
    "make them known to an assistant",
    NULL,
};

static int cmd_mcp_serve(const struct opts *o, struct arena *mem, struct err *e)
{
    struct mcp_folders folders;
    long most = 4;
    TRY(opt_long(o, "open", 1, 16, &most, e));
    TRY(mcp_folders_init(&folders, o->args, o->n_args, mem, e));
    struct mcp_options how = {&folders, (uint32_t)most, STDIN_FILENO, STDOUT_FILENO};
    return mcp_serve(&how, e);
}

static int cmd_mcp_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    (void)cli;
    arena_init(&mem);
    int rc = cmd_mcp_serve(o, &mem, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_mcp = {
    .name = "mcp",
    .summary = "serve traces to assistants, over the Model Context Protocol",
    .args = "FOLDER ...",
    .about =
        "Answers an assistant's calls on standard input and output: traces, report, table, "
        "kernels, gaps, syncs, steps, stages, whatif, diff, ranks, sql, evidence. Only traces in "
        "the given folders are read; a link that leads out of them is refused. Nothing is written "
        "and no program is started; on Linux 5.13 or newer the kernel enforces that, too.\n"
        "Answers are short: the first entries of a list, and how to get the next. Numbers of "
        "findings, sites, gaps and rows stay the same from call to call. A trace stays open "
        "between calls and is read again when its file changes. Calls run side by side, one at a "
        "time per trace, and can be cancelled.\n"
        "`sql` is SQLite inside the program, over one trace; the tables of many ranks that strata "
        "sql reads with DuckDB are not served. docs/agents.md describes all tools.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = -1,
    .serves = true,
    .run = cmd_mcp_run,
};
