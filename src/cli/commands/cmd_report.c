/* cmd_report.c: `strata report`: what is slow, why, on which line, and what a fix would gain. */
#include <stdlib.h>
#include <string.h>

#include "analyze/findings/rule.h"
#include "analyze/simulate/undistort.h"
#include "base/human.h"
#include "base/shell.h"
#include "cli/browser/browser.h"
#include "cli/help/help.h"
#include "cli/input/input.h"
#include "cli/ranks/ranks.h"
#include "cli/recording/run_folder.h"
#include "cli/show.h"
#include "report/diagnosis/view_report.h"

#define MOST_STAGE_TRACES 6

static const struct opt opts[] = {
    {"verbose", 'v', NULL, "print everything: stages, kernels, findings in full, checklist, ladder",
     NULL},
    {"md", 0, NULL, "print markdown under 8 kB, for an issue or a language model", NULL},
    HTML_OPT,
    {"limit", 'n', "N", "number of findings with -v (default 10) or of ranks (16) to show", NULL},
    {"ranks", 0, NULL, "compare the ranks of traces that are not named after them", NULL},
    {"rank", 0, "N", "one rank of a recording by itself", NULL},
    {"wall", 0, "MS", "wall time measured without a profiler, to fit the profiler's cost", NULL},
    {"set", 0, "NAME=VALUE", "change one of the thresholds below; repeatable", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata report trace.json.gz",
    "what is slow and what to do about it, on one screen",
    "strata report trace.json.gz --md",
    "the same, small enough for a language model",
    "strata report trace.json.gz --html report.html",
    "the same with a timeline: one file that opens offline",
    "strata report traces/",
    "many ranks: which one keeps the others waiting, why, and what it costs",
    "strata report trace.json.gz --json | jq '.findings[0]'",
    "the top finding with its evidence",
    NULL,
};

/* Timelines of single stages that lie in the folder of a run (strata run --only STAGE). */
static void cmd_report_tell_stage_traces(struct cli *cli, const char *folder)
{
    struct folder_list inside;
    struct arena mem;
    if (!folder_is(folder)) return;
    arena_init(&mem);
    int rc = folder_list_run(folder, &mem, &inside, NULL);
    for (uint32_t i = 0, n = 0; rc == 0 && i < inside.n && n < MOST_STAGE_TRACES; i++) {
        const char *slash = strrchr(inside.paths[i], '/'), *name = slash ? slash + 1 : "";
        const char *end = strstr(name, "_trace");
        if (!end || end == name || !str_ends(str_c(name), ".json.gz")) continue;
        n++;
        buf_printf(&cli->out, "      strata report %s   one call of %.*s\n",
                   shell_word(inside.paths[i]).s, (int)(end - name), name);
    }
    arena_done(&mem);
}

/* With another output format the page is written as well; otherwise only the page is written. */
static int cmd_report_print(struct cli *cli, const struct opts *o, const struct screen *s,
                            struct context *cx, struct err *e)
{
    const char *file = opt_get(o, "html", NULL);
    if (file) {
        struct page p = {.kind = "report", .title = s->path};
        struct html_side side = {cx, s->path};
        TRY(html_write(&p, &side, 1, file, cx->mem, e));
        html_tell(file);
    }
    if (cli->json) view_report_json(SHOW_JSON(cli), NULL, cx);
    else if (opt_has(o, "md")) view_report_md(&cli->out, cx, s->path);
    else if (opt_has(o, "verbose") && !file) view_report_full_text(s, cx);
    else if (!file) view_report_text(s, cx);
    if (!cli->json && !opt_has(o, "md") && !file) cmd_report_tell_stage_traces(cli, s->path);
    return 0;
}

#define WALL_FITS_PCT 5

/* A wall clock that no cost of the profiler explains is not the program's, or not in ms. */
static int cmd_report_check_wall(struct context *cx, struct err *e)
{
    if (!cx->measured_ns) return 0;
    TRY(context_need(cx, &undistort_pass, e));
    int64_t plain_ns = undistort_of(cx)->plain_ns;
    if (llabs(plain_ns - cx->measured_ns) * 100 <= cx->measured_ns * WALL_FITS_PCT) return 0;
    cli_say("--wall %s does not fit this trace: without the profiler it takes %s at the least, "
            "which is what is shown",
            human_time(cx->measured_ns).s, human_time(plain_ns).s);
    return 0;
}

static int cmd_report_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    double wall_ms = 0;
    for (int i = 0; opt_nth(o, "set", i); i++)
        TRY(thresholds_set(&cx->th, opt_nth(o, "set", i), e));
    TRY(opt_double(o, "wall", 1e-3, 1e9, &wall_ms, e));
    TRY(show_screen(cli, o, 10, &s, e));
    cx->measured_ns = (int64_t)(wall_ms * 1e6);
    TRY(view_report_need(cx, e));
    TRY(cmd_report_check_wall(cx, e));
    return cmd_report_print(cli, o, &s, cx, e);
}

/* A folder of the traces of all ranks: what they say together. */
static int cmd_report_show_ranks(struct cli *cli, const struct opts *o, const struct picked_list *p,
                                 struct err *e)
{
    TRY(read_ranks_show(cli, o, p, e));
    if (p->n < 2 || cli->json || opt_has(o, "md") || opt_has(o, "html")) return 0;
    struct shell_word path = shell_word(p->list[0].path);
    if (p->list[0].rank < 0)
        buf_printf(&cli->out, "next: strata report %s   one rank by itself\n", path.s);
    else
        buf_printf(&cli->out, "next: strata report %s --rank %d   one rank by itself\n", path.s,
                   p->list[0].rank);
    return 0;
}

/* A run of several ranks that recorded their stages only: which of them is slow is all there is to
 * say. */
static bool cmd_report_is_stages_of_ranks(struct cli *cli, const struct opts *o,
                                          const struct picked_list *p, struct arena *mem)
{
    bool text = !cli->json && !opt_has(o, "md") && !opt_has(o, "html");
    return text && p->n > 1 && p->list[0].rank >= 0 && timing_run_in(p->list[0].path) &&
           !pick_trace_has_timeline(p->list[0].path, mem);
}

static int cmd_report_show_stages(struct cli *cli, const struct opts *o, const char *run,
                                  struct err *e)
{
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(run_folder_show(cli, run, &s, NULL, e));
    cli_say("only stages were recorded: strata run --level timeline also records who waits for "
            "whom, and why");
    return 0;
}

/* Whether the operands are the traces of several ranks; then `p` has them. */
static int cmd_report_pick_ranks(struct cli *cli, const struct opts *o, struct arena *mem,
                                 struct picked_list *p, bool *ret, struct err *e)
{
    *ret = o->n_args > 1 || opt_has(o, "ranks");
    if (*ret) return pick_ranks_of(o->args, o->n_args, mem, p, e);
    bool one = opt_has(o, "rank") || opt_has(o, "part") || opt_has(o, "at") || opt_has(o, "whole");
    *ret = folder_is(o->args[0]) && !one && pick_ranks_of(o->args, 1, mem, p, NULL) == 0 &&
           read_ranks_is(cli, p);
    return 0;
}

static int cmd_report_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct picked_list p = {0};
    struct arena mem;
    bool done = false, ranks;
    TRY(html_check(o, e));
    if (cli->json && opt_has(o, "md"))
        return FAIL(e, ERR_USAGE, "--json and --md are two formats of one output; give one");
    if (o->n_args == 1) TRY(whole_show(cli, o, WHOLE_REPORT, &done, e));
    if (done) return 0;
    arena_init(&mem);
    int rc = cmd_report_pick_ranks(cli, o, &mem, &p, &ranks, e);
    bool stages = rc == 0 && !ranks && cmd_report_is_stages_of_ranks(cli, o, &p, &mem);
    if (stages) rc = cmd_report_show_stages(cli, o, p.list[0].path, e);
    else if (rc == 0 && ranks) rc = cmd_report_show_ranks(cli, o, &p, e);
    else if (rc == 0) rc = show_judged_quiet(cli, o, cmd_report_show, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_report = {
    .name = "report",
    .summary = "what is slow, why, on which line, and what a fix would gain",
    .args = "TRACE | FOLDER | TRACE ...",
    .about =
        "Says how much faster the program can get and what to change first: the result, a line "
        "per\n"
        "finding with the time it saves, what looks slow and is not. -v prints everything.\n"
        "\n"
        "Times and gains are without the profiler. A gain is predicted by replaying the trace "
        "with\n"
        "the finding fixed; each finding assumes that those above it are fixed already. Blocked "
        "is\n"
        "how long a wait holds the CPU, exposed is how long it leaves the GPU idle in the trace.\n"
        "The gain can be larger than the exposed time, because the CPU can then run ahead.\n"
        "\n"
        "Several traces, a folder of them, or a run of several ranks are the ranks of one program: "
        "they are read one at a time, collectives are matched by process group and number, clocks are aligned on their "
        "ends. It then says which rank comes late to collectives, by how much and why, and how "
        "long a step would take without that. Ranks are numbered by the traces themselves or by "
        "their file names (rank3.json); missing and duplicate ranks are reported.",
    .examples = examples,
    .opts = opts,
    .terms = terms_thresholds,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = -1,
    .run = cmd_report_run,
    .show = cmd_report_show,
};
