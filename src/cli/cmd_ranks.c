/* cmd_ranks.c: `strata ranks`: the traces of all ranks of one program, one at a time. */
#include "cli/read_ranks.h"

static const struct opt opts[] = {
    {"limit", 0, "N", "number of ranks to show, 0 for all (default 16)", NULL},
    {"md", 0, NULL, "print markdown under 8 kB, for an issue or a language model", NULL},
    {"html", 0, "FILE", "write an HTML page: ranks on one clock, the critical path", NULL},
    {0},
};

static const char *const examples[] = {
    "strata ranks traces/",
    "which rank keeps the others waiting, why, and what it costs",
    "strata ranks rank*.json.gz --json | jq '.stragglers[0]'",
    "the worst one: rank, cause, source line",
    "strata ranks traces/ --html ranks.html",
    "a few steps of all ranks on one clock, and the critical path through them",
    NULL,
};

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct picked_list p;
    struct arena mem;
    arena_init(&mem);
    int rc = pick_ranks_of(o->args, o->n_args, &mem, &p, e);
    if (rc == 0) rc = read_ranks_show(cli, o, &p, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_ranks = {
    .name = "ranks",
    .summary = "many ranks at once: who comes late to collectives, and why",
    .args = "FOLDER | TRACE ...",
    .about =
        "Reads the traces of all ranks, one at a time, and keeps a small summary of each. "
        "Collectives are matched by process group and number (where those were recorded, else by "
        "order), the clocks of the ranks are aligned on their ends.\n"
        "For each collective it shows how long the transfer takes, who came last and by how much; "
        "for each rank that keeps the others waiting, why: slower kernels, more work, a sync, the "
        "DataLoader, garbage collection, launches; and how long a step would take without it.\n"
        "Ranks are numbered by the traces themselves or by their file names (rank3.json); missing "
        "and duplicate ranks are reported.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
