/* cmd_info.c: `strata info`: what is in a trace. */
#include <sys/stat.h>

#include "analyze/quality/integrity.h"
#include "base/folder.h"
#include "cli/input/input.h"
#include "cli/recording/run_folder.h"
#include "cli/show.h"
#include "report/diagnosis/view_excerpt.h"
#include "report/lists/views_file.h"
#include "report/lists/views_memory.h"

static const char *const examples[] = {
    "strata info trace.json.gz",
    "versions, devices, what was recorded, and what is damaged",
    "strata info trace.json.gz --json | jq .recorder",
    "whether stacks, shapes and memory were recorded",
    "strata info trace.json --lint",
    "damage with byte offsets, then all problems of the trace",
    "strata info strata_out/flux/20261115_101502",
    "of a run that was killed: which processes it had, how they ended, what was open then",
    NULL,
};

static const struct opt opts[] = {
    {"lint", 0, NULL, "check instead: damage by byte, then all problems of the trace", NULL},
    {0},
};

/* The processes of a run folder; none for anything else. The trace of a long recording is a part of
 * it: what was open at the end is in the ranges of all of it. */
struct run {
    struct ring_survey survey;
    struct trace *ranges;
};

static int cmd_info_survey(const char *path, struct arena *mem, struct run *ret, struct err *e)
{
    struct import_options ranges = {.only_ranges = true};
    *ret = (struct run){0};
    if (!folder_is(path) || !rings_in(path)) return 0;
    TRY(rings_survey(path, mem, &ret->survey, e));
    return rings_open(path, &ranges, &ret->ranges, e);
}

static int cmd_info_json(struct cli *cli, struct context *cx, const struct census *c, int64_t bytes,
                         const struct run *run, struct err *e)
{
    struct view_info v = {.c = c, .file_bytes = bytes};
    TRY(run_processes_list(&run->survey, run->ranges, cx->mem, &v, e));
    view_info_json(SHOW_JSON(cli), NULL, cx->t, &v);
    return 0;
}

static void cmd_info_text(struct cli *cli, const struct screen *s, struct context *cx,
                          const struct census *c, int64_t bytes, const struct run *run)
{
    size_t before = cli->out.n;
    view_excerpt_text(&cli->out, cx->t);
    if (cli->out.n > before) buf_addc(&cli->out, '\n');
    if (run->survey.n) {
        run_processes_text(cli, &run->survey, run->ranges);
        buf_addc(&cli->out, '\n');
    }
    view_info_text(s, cx->t, c, bytes);
}

static int cmd_info_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct census c;
    struct screen s;
    struct stat st;
    struct run run;
    TRY(show_screen(cli, o, 0, &s, e));
    TRY(census_run(cx->t, cx->mem, &c, e));
    TRY(cmd_info_survey(o->args[0], cx->mem, &run, e));
    int64_t bytes = stat(o->args[0], &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : -1;
    int rc = 0;
    if (cli->json) rc = cmd_info_json(cli, cx, &c, bytes, &run, e);
    else cmd_info_text(cli, &s, cx, &c, bytes, &run);
    trace_free(run.ranges);
    return rc;
}

static int cmd_info_lint(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 0, &s, e));
    TRY(context_need(cx, &integrity_pass, e));
    if (cli->json) view_lint_json(SHOW_JSON(cli), cx);
    else view_lint_text(&s, cx);
    return 0;
}

static int show_snapshot(struct cli *cli, const struct opts *o, const struct snapshot *p,
                         struct err *e)
{
    struct held h;
    struct arena mem;
    struct screen s;
    TRY(show_screen(cli, o, 0, &s, e));
    arena_init(&mem);
    int rc = held_run(p, &mem, &h, e);
    static const struct screen_next next[] = {{"memory %s", "who holds the memory"}};
    if (rc == 0 && cli->json) view_snapshot_info_json(SHOW_JSON(cli), &h);
    else if (rc == 0) {
        view_snapshot_info_text(&s, &h);
        screen_next(&s, next, 1);
    }
    arena_done(&mem);
    return rc;
}

static int cmd_info_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct snapshot *p;
    if (opt_has(o, "lint")) return show_trace(cli, o, cmd_info_lint, e);
    TRY(snapshot_open(cli, o->args[0], &p, e));
    int rc = p ? show_snapshot(cli, o, p, e) : show_summary(cli, o, cmd_info_show, e);
    snapshot_open_end(cli, p);
    return rc;
}

const struct cmd cmd_info = {
    .name = "info",
    .summary = "what is in a trace: versions, devices, events, damage",
    .args = "TRACE",
    .about =
        "Shows what a file contains: format and size, the versions that wrote it, devices, what "
        "the recorder was set to record, events by category, threads and streams, and any "
        "damage.\n"
        "Unknown metadata is listed by name only, because it may hold whole environments with "
        "secrets. A .strata file of any size takes milliseconds.\n"
        "For a run folder, all processes are listed, also those that were killed. Everything "
        "recorded before a kill is kept, and every command reads it.\n"
        "--lint lists what is wrong with the file, by reason and with byte offsets (of the "
        "decompressed text for .gz and .zst), then every problem of the trace: what was seen, what "
        "it means for the figures, what to record instead. A note changes no figure. strata help "
        "problems lists all that Strata looks for.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_info_run,
};
