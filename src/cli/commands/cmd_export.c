/* cmd_export.c: `strata export`: a trace in another format. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/human.h"
#include "base/jout.h"
#include "base/pool.h"
#include "base/shell.h"
#include "cli/browser/browser.h"
#include "cli/input/input.h"
#include "cli/ranks/ranks.h"
#include "cli/recording/run_folder.h"
#include "export/export.h"

static const struct opt opts[] = {
    {"output", 'o', "FILE", "output file; - is standard output", NULL},
    {"to", 0, "FORMAT", "format (default: from FILE's name)",
     "chrome|strata|perfetto|csv|sqlite|tables|flame|folded|speedscope|pprof|timing"},
    {"open", 0, NULL, "no file: print a link that opens the trace in ui.perfetto.dev", NULL},
    {"for", 0, "VIEWER",
     "chrome, --open: put spans that Perfetto would drop on threads of their "
     "own",
     "perfetto"},
    {"args", 0, NULL, "csv, sqlite: include every event's args as JSON", NULL},
    {"strip", 0, NULL, "remove metadata that may identify the machine or hold secrets", NULL},
    {"of", 0, "WHAT",
     "flame, folded, speedscope, pprof: gpu (work, the default), cpu (work), idle (GPU idle time) "
     "or wait (CPU time in waits)",
     "gpu|cpu|idle|wait"},
    {"limit", 'n', "N", "flame: number of lines of the tree, 0 for all (default 40)", NULL},
    {"run", 0, "NAME", "tables: name of the run (default: the folder that contains the trace)",
     NULL},
    {"rank", 0, "N",
     "tables: rank of a trace that does not name its own (default 0; the next one N + 1)", NULL},
    {"replace", 0, NULL, "tables: also replace ranks that were written from another trace", NULL},
    {"once", 0, NULL, "--open: exit when the trace has been read once", NULL},
    {"port", 0, "N", "--open: port (default 9001, the only one ui.perfetto.dev reads)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata export run.json.gz -o run.strata",
    "a complete file that opens instantly",
    "strata export run.json.gz --open",
    "in Perfetto's viewer, without uploading it: prints the link",
    "strata export run.json -o run.pftrace",
    "Perfetto's own format, which loads faster there than JSON",
    "strata export run.json -o run.sqlite",
    "for SQL queries",
    "strata export run.json.gz -o flame.html",
    "a flame graph of GPU time by the Python stack that launched it",
    "strata export run.json.gz --to flame --of idle",
    "what the CPU did while the GPU was idle, as a tree",
    "strata export run.json.gz --of cpu -o cpu.speedscope.json",
    "for speedscope.app; .folded is for flamegraph.pl, .pb.gz for pprof",
    "strata export traces/ --to tables -o tables",
    "small Parquet tables of all traces of a folder, as the ranks of one run, for strata sql",
    NULL,
};

/* Which options a way of exporting takes; others are mistakes. */
struct way {
    const char *name, *options;
};

static const struct way way_tables = {"tables", "output to run rank replace"},
                        way_flame = {"time by stack", "output to of limit whole part at"},
                        way_open = {"--open", "open for once port"}, way_timing = {"timing", "to"},
                        way_events = {"events", "output to for args strip"};

static bool cmd_export_takes(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = words; (at = strstr(at, name)) != NULL; at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

/* An option that would silently be ignored is a mistake. */
static int cmd_export_check_way(const struct opts *o, const struct way *w, struct err *e)
{
    for (const struct opt *x = opts; x->name; x++)
        if (opt_has(o, x->name) && !cmd_export_takes(w->options, x->name))
            return FAIL(e, ERR_USAGE, "--%s does not apply to %s", x->name, w->name);
    return 0;
}

static int find_exporter(const struct opts *o, const char *path, const struct exporter **ret,
                         struct err *e)
{
    const char *name = opt_get(o, "to", NULL);
    *ret = name ? export_find(name) : export_for_path(path);
    if (*ret) return 0;
    if (!name && str_ends(str_c(path), ".parquet"))
        return FAIL(e, ERR_USAGE,
                    "%s: Parquet goes into a folder of tables: strata export --to tables TRACE -o "
                    "FOLDER",
                    path);
    return FAIL(e, ERR_USAGE,
                "cannot tell the format from '%s'; use --to (strata export --help lists formats)",
                path);
}

static int cmd_export_check_options(const struct opts *o, const struct exporter *x, struct err *e)
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

static void cmd_export_show_text(struct cli *cli, const struct trace *t, const struct exporter *x,
                                 const char *path)
{
    buf_printf(&cli->out, "%s   %s   %s events   %s\n", path, x->name, human_count(t->n_rows).s,
               human_bytes((int64_t)file_size(path)).s);
    /* inside the quotes of another program only a plain name is what it is */
    struct shell_word word = shell_word(path);
    bool apart = x->next[0][strlen(x->next[0]) - 1] == ' ';
    if (apart || strcmp(word.s, path) == 0)
        buf_printf(&cli->out, "\nnext: %s%s%s\n", x->next[0], word.s, x->next[1]);
}

static void cmd_export_show_json(struct cli *cli, const struct trace *t, const struct exporter *x,
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

static void cmd_export_tell(void *ctx, uint64_t done, uint64_t all)
{
    progress_tell(ctx, done, all);
}

/* Results, not events, as Parquet files. */
static int cmd_export_tables(struct cli *cli, const struct opts *o, struct err *e)
{
    long rank = 0;
    struct summarize in = {.folder = opt_get(o, "output", NULL), .run = opt_get(o, "run", NULL)};
    TRY(cmd_export_check_way(o, &way_tables, e));
    if (!in.folder) return FAIL(e, ERR_USAGE, "no output folder: give -o FOLDER");
    TRY(opt_long(o, "rank", 0, INT_MAX / 2, &rank, e));
    in.rank = (int)rank;
    in.replace = opt_has(o, "replace");
    return summarize_run(cli, o, &in, e);
}

/* The trace of a run folder is read from a file in it, which is not the name that was given. */
static int cmd_export_check_apart(const struct trace *t, const char *path, struct err *e)
{
    struct stat in, out;
    if (!t->path || stat(t->path, &in) < 0 || stat(path, &out) < 0) return 0;
    if (in.st_dev != out.st_dev || in.st_ino != out.st_ino) return 0;
    return FAIL(e, ERR_USAGE, "-o names the input itself, '%s'; give another name", t->path);
}

/* The timing.json of every process of a run that could not write its own. */
static int cmd_export_timing(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    struct run_folder_made made;
    TRY(cmd_export_check_way(o, &way_timing, e));
    if (!rings_in(o->args[0])) {
        err_at(e, o->args[0], ERR_NO_OFFSET);
        return FAIL(e, ERR_USAGE, "this folder has no recordings; expected a run folder");
    }
    arena_init(&mem);
    int rc = run_folder_recover(o->args[0], NULL, &mem, &made, e);
    struct jout j;
    jout_init(&j, &cli->out, true);
    if (rc == 0 && cli->json) {
        jout_obj(&j, NULL);
        jout_arr(&j, "timing");
        for (uint32_t i = 0; i < made.n; i++) jout_cstr(&j, NULL, made.paths[i]);
        jout_end_arr(&j);
        jout_end_obj(&j);
    }
    for (uint32_t i = 0; rc == 0 && !cli->json && i < made.n; i++)
        buf_printf(&cli->out, "wrote %s\n", made.paths[i]);
    if (rc == 0 && !cli->json && !made.n)
        buf_adds(&cli->out, "nothing to write: no process of the run lacks its timing.json\n");
    arena_done(&mem);
    return rc;
}

static int cmd_export_events(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *path = opt_get(o, "output", NULL);
    const struct exporter *x;
    if (!path) return FAIL(e, ERR_USAGE, "no output file: give -o FILE");
    TRY(cmd_export_check_way(o, &way_events, e));
    TRY(find_exporter(o, path, &x, e));
    TRY(cmd_export_check_options(o, x, e));
    struct progress progress;
    struct export_options options = {
        .strip = opt_has(o, "strip"),
        .for_perfetto = opt_has(o, "for"),
        .with_args = opt_has(o, "args"),
        .n_threads = pool_size(),
        .progress = cmd_export_tell,
        .progress_ctx = &progress,
    };
    struct trace *t;
    TRY(cli_open_trace(cli, o->args[0], &t, e));
    int rc = cmd_export_check_apart(t, path, e);
    if (rc == 0) {
        progress_begin(&progress, "writing", path);
        rc = x->write(t, path, &options, e);
        progress_end(&progress);
    }
    if (rc == 0 && strcmp(path, "-") != 0)
        (cli->json ? cmd_export_show_json : cmd_export_show_text)(cli, t, x, path);
    trace_free(t);
    return rc;
}

static int cmd_export_run(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *to = opt_get(o, "to", "");
    if (strcmp(to, "tables") == 0) return cmd_export_tables(cli, o, e);
    if (o->n_args > 1)
        return FAIL(e, ERR_USAGE, "unexpected argument '%s': only --to tables takes several",
                    o->args[1]);
    if (strcmp(to, "timing") == 0) return cmd_export_timing(cli, o, e);
    if (opt_has(o, "open")) {
        TRY(cmd_export_check_way(o, &way_open, e));
        return perfetto_open(cli, o, e);
    }
    if (!flame_out_is(o)) return cmd_export_events(cli, o, e);
    TRY(cmd_export_check_way(o, &way_flame, e));
    return flame_out(cli, o, e);
}

const struct cmd cmd_export = {
    .name = "export",
    .summary = "other formats: Perfetto, flame graphs, tables for SQL, Chrome JSON, .strata",
    .args = "TRACE | TRACE ... --to tables",
    .about =
        "Writes a trace as Chrome JSON (plain, .gz or .zst), as a native .strata file, as CSV, as "
        "a SQLite database or as a Perfetto trace (.pftrace). JSON and .strata keep everything "
        "from the input, unknown metadata included; --strip removes what may hold secrets. The "
        "file is written completely or not at all.\n"
        "--open serves the trace to Perfetto's viewer: the viewer's page comes from "
        "ui.perfetto.dev; the trace goes only to the browser on this machine, on the loopback "
        "address, under a random name, to that page alone, until Ctrl-C or, with --once, until it "
        "has been read. A format that the viewer cannot read is converted first.\n"
        "flame, folded, speedscope and pprof add up time by stack: Python functions, labels, "
        "operators and calls, outermost first. Device work counts for the stack that launched it. "
        "GPU idle time counts for what the launching thread did until it launched the work that "
        "ended the gap. Wait time is the CPU time inside calls that wait. --to flame prints the "
        "tree, with -o FILE.html it writes a page that opens offline. Python frames need a trace "
        "with stacks (with_stack=True, or strata run --level timeline).\n"
        "tables writes what databases need to compare thousands of traces, as "
        "FOLDER/TABLE/run=NAME/rank=N/part.parquet, which DuckDB, ClickHouse, Polars, pyarrow and "
        "Spark read as one table each; strata sql asks them. Ranks are independent: any number of "
        "processes may write into the same folder. A rank that is written again replaces itself, "
        "but no rank of another trace (--replace).\n"
        "timing writes the timing.json of every process of a run folder that was killed before it "
        "wrote its own, into that folder.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .min_args = 1,
    .max_args = -1,
    .run = cmd_export_run,
};
