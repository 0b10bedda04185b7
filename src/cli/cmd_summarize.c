/* cmd_summarize.c: `strata summarize`: traces as small tables for databases. */
#include <limits.h>

#include "cli/summarize.h"

static const struct opt opts[] = {
    {"output", 'o', "FOLDER", "where the tables go; ranks that are there already stay", NULL},
    {"run", 0, "NAME", "name of the run (default: the folder the trace lies in)", NULL},
    {"rank", 0, "N", "rank of a trace that does not say its own (default 0; the next one N + 1)",
     NULL},
    {0},
};

static const char *const examples[] = {
    "strata summarize traces/ -o tables",
    "all traces of a folder, as the ranks of one run",
    "find /traces -name '*.json.gz' | xargs -P 8 -n 1 strata summarize -o tables",
    "many at once: ranks are independent",
    "strata sql tables --query stragglers",
    "then ask",
    NULL,
};

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    long rank = 0;
    struct summarize in = {.folder = opt_get(o, "output", NULL), .run = opt_get(o, "run", NULL)};
    if (!in.folder) return FAIL(e, ERR_USAGE, "no output folder: give -o FOLDER");
    TRY(opt_long(o, "rank", 0, INT_MAX / 2, &rank, e));
    in.rank = (int)rank;
    return summarize_run(cli, o, &in, e);
}

const struct cmd cmd_summarize = {
    .name = "summarize",
    .summary = "traces as small Parquet tables: many ranks, many runs",
    .args = "TRACE | FOLDER ...",
    .about =
        "Analyzes each trace and writes what databases need to compare thousands of them: the "
        "tables runs, steps, stages, kernels, gaps, syncs, collectives and findings, as\n"
        "  FOLDER/TABLE/run=NAME/rank=N/part.parquet\n"
        "which DuckDB, ClickHouse, Polars, pyarrow and Spark read as one table each. strata sql "
        "asks them with DuckDB.\n"
        "Ranks are independent: any number of processes may write into the same folder, in any "
        "order. A rank that is written again replaces itself.\n"
        "Ranks are numbered by the traces themselves or by their file names (rank3.json).",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
