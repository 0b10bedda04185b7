/* cmd_export.c: `strata export`: a trace in another format. */
#include <string.h>
#include <sys/stat.h>

#include "base/human.h"
#include "base/jout.h"
#include "base/pool.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/summarize.h"
#include "export/export.h"

static const struct opt opts[] = {
    {"output", 'o', "FILE", "output file; - is standard output", NULL},
    {"to", 0, "FORMAT",
     "chrome, strata, pftrace, csv, sqlite or parquet (default: from FILE's name)",
     "chrome|strata|pftrace|csv|sqlite|parquet"},
    {"for", 0, "VIEWER", "chrome: put spans that Perfetto would drop on threads of their own",
     "perfetto"},
    {"args", 0, NULL, "csv, sqlite: include every event's args as JSON", NULL},
    {"strip", 0, NULL, "remove metadata that may identify the machine or hold secrets", NULL},
    {0},
};

static const char *const examples[] = {
    "strata export run.json.gz -o run.strata",
    "a complete file that opens instantly",
    "strata export run.strata -o run.json.gz --for perfetto",
    "for ui.perfetto.dev, overlapping kernels included",
    "strata export run.json -o run.pftrace",
    "Perfetto's own format, which loads faster there than JSON",
    "strata export run.json -o run.sqlite",
    "for SQL queries",
    "strata export rank0.json --to parquet -o tables",
    "small tables of results for databases; the same as strata summarize",
    NULL,
};

static int find_exporter(const struct opts *o, const char *path, const struct exporter **ret,
                         struct err *e)
{
    const char *name = opt_get(o, "to", NULL);
    *ret = name ? export_find(name) : export_for_path(path);
    if (*ret) return 0;
    return FAIL(e, ERR_USAGE,
                "cannot tell the format from '%s'; use --to chrome, strata, pftrace, csv, "
                "sqlite or parquet",
                path);
}

/* An option that the format would silently ignore is a mistake. */
static int check_options(const struct opts *o, const struct exporter *x, struct err *e)
{
    if (opt_has(o, "for") && !(x->uses & EXPORT_VIEWER))
        return FAIL(e, ERR_USAGE, "--for applies to Chrome JSON, not to %s", x->name);
    if (opt_has(o, "args") && !(x->uses & EXPORT_ARGS))
        return FAIL(e, ERR_USAGE, "--args applies to csv and sqlite; %s always includes them",
                    x->name);
    return 0;
}

static uint64_t file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static void show_text(struct cli *cli, const struct trace *t, const struct exporter *x,
                      const char *path)
{
    buf_printf(&cli->out, "%s   %s   %s events   %s\n", path, x->name, human_count(t->n_rows).s,
               human_bytes((int64_t)file_size(path)).s);
    buf_printf(&cli->out, "\nnext: %s%s%s\n", x->next[0], path, x->next[1]);
}

static void show_json(struct cli *cli, const struct trace *t, const struct exporter *x,
                      const char *path)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "path", path);
    jout_cstr(&j, "format", x->name);
    jout_uint(&j, "events", t->n_rows);
    jout_uint(&j, "flows", t->n_flows);
    jout_uint(&j, "size_bytes", file_size(path));
    jout_end_obj(&j);
}

static void tell(void *ctx, uint64_t done, uint64_t all)
{
    progress_tell(ctx, done, all);
}

/* Parquet files hold results, not events: what `strata summarize` writes. */
static int export_tables(struct cli *cli, const struct opts *o, struct err *e)
{
    static const char *const events_only[] = {"for", "args", "strip"};
    for (size_t i = 0; i < sizeof events_only / sizeof *events_only; i++)
        if (opt_has(o, events_only[i]))
            return FAIL(e, ERR_USAGE, "--%s does not apply to parquet: tables hold no events",
                        events_only[i]);
    struct summarize in = {.folder = opt_get(o, "output", NULL)};
    return summarize_run(cli, o, &in, e);
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *path = opt_get(o, "output", NULL);
    const struct exporter *x;
    if (!path) return FAIL(e, ERR_USAGE, "no output file: give -o FILE");
    if (strcmp(opt_get(o, "to", ""), "parquet") == 0) return export_tables(cli, o, e);
    TRY(find_exporter(o, path, &x, e));
    TRY(check_options(o, x, e));
    struct progress progress;
    struct export_options options = {
        .strip = opt_has(o, "strip"),
        .for_perfetto = opt_has(o, "for"),
        .with_args = opt_has(o, "args"),
        .n_threads = pool_size(),
        .progress = tell,
        .progress_ctx = &progress,
    };
    struct trace *t;
    TRY(cli_open_trace(cli, o->args[0], &t, e));
    progress_begin(&progress, "writing", path);
    int rc = x->write(t, path, &options, e);
    progress_end(&progress);
    if (rc == 0 && strcmp(path, "-") != 0) (cli->json ? show_json : show_text)(cli, t, x, path);
    trace_free(t);
    return rc;
}

const struct cmd cmd_export = {
    .name = "export",
    .summary = "write a trace in another format",
    .args = "TRACE",
    .about =
        "Writes a trace as Chrome JSON (plain, .gz or .zst), as a native .strata file, as CSV or\n"
        "as a SQLite database; Parquet writes the tables of strata summarize into a folder. JSON "
        "and .strata keep everything from the input, unknown metadata\n"
        "included; --strip removes what may hold secrets. The file is written completely or not\n"
        "at all.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
