/* cmd_report.c: `strata report`: what is slow, why, on which line, and what a fix would gain. */
#include "analyze/rules/rule.h"
#include "cli/html.h"
#include "cli/read_ranks.h"
#include "cli/show.h"
#include "cli/terms.h"
#include "cli/whole.h"
#include "report/view_report.h"

static const struct opt opts[] = {
    {"md", 0, NULL, "print markdown under 8 kB, for an issue or a language model", NULL},
    HTML_OPT,
    {"top", 'n', "N", "number of findings to show (default 10)", NULL},
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
    "strata report trace.json.gz --json | jq '.findings[0]'",
    "the top finding with its evidence",
    NULL,
};

/* With another output format the page is written as well; otherwise only the page is written. */
static int print(struct cli *cli, const struct opts *o, const struct screen *s, struct context *cx,
                 struct err *e)
{
    const char *file = opt_get(o, "html", NULL);
    if (file) {
        struct page p = {.kind = "report", .title = s->path};
        struct html_side side = {cx, s->path};
        TRY(html_write(&p, &side, 1, file, cx->mem, e));
        html_tell(file);
    }
    if (cli->json) view_report_json(&cli->out, cx);
    else if (opt_has(o, "md")) view_report_md(&cli->out, cx, s->path);
    else if (!file) view_report_text(s, cx);
    return 0;
}

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    double wall_ms = 0;
    long top = 10;
    for (int i = 0; opt_nth(o, "set", i); i++)
        TRY(thresholds_set(&cx->th, opt_nth(o, "set", i), e));
    TRY(opt_double(o, "wall", 1e-3, 1e9, &wall_ms, e));
    TRY(opt_long(o, "top", 1, 1000, &top, e));
    TRY(show_screen(cli, o, (uint32_t)top, &s, e));
    cx->measured_ns = (int64_t)(wall_ms * 1e6);
    TRY(view_report_need(cx, e));
    return print(cli, o, &s, cx, e);
}

/* A folder of the traces of all ranks: what they say together. */
static int show_ranks(struct cli *cli, const struct opts *o, const struct picked_list *p,
                      struct err *e)
{
    TRY(read_ranks_show(cli, o, p, e));
    if (!cli->json && !opt_has(o, "md") && !opt_has(o, "html"))
        buf_printf(&cli->out, "next: strata report %s   one rank by itself\n", p->list[0].path);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct picked_list p = {0};
    struct arena mem;
    bool done = false;
    TRY(html_check(o, e));
    TRY(whole_show(cli, o, WHOLE_REPORT, &done, e));
    if (done) return 0;
    arena_init(&mem);
    bool ranks = folder_is(o->args[0]) && !opt_has(o, "part") && !opt_has(o, "whole") &&
                 pick_ranks_of(o->args, 1, &mem, &p, NULL) == 0 && read_ranks_is(cli, &p);
    int rc = ranks ? show_ranks(cli, o, &p, e) : show_part_untold(cli, o, show, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_report = {
    .name = "report",
    .summary = "what is slow, why, on which line, and what a fix would gain",
    .args = "TRACE",
    .about = "Reads the trace, says what bounds the wall time, and lists what can be done about "
             "it, largest\n"
             "gain first. Every finding has two costs: how long it blocks the CPU, and how long it "
             "leaves\n"
             "the GPU idle (exposed). Only exposed time can be gained. The gain is predicted by "
             "replaying\n"
             "the trace with the finding fixed and the profiler's own cost removed; each finding "
             "assumes\n"
             "that those above it are fixed already.",
    .examples = examples,
    .opts = opts,
    .terms = terms_thresholds,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
    .show = show,
};
