/* cmd_checklist.c: `strata checklist`: the six questions alone. */
#include "cli/show.h"
#include "cli/terms.h"
#include "report/view_report.h"

static const struct opt opts[] = {
    {"set", 0, "NAME=VALUE", "change one of the thresholds below; repeatable", NULL},
    {"limit", 0, "N", "number of rows to show, 0 for all (default all)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata checklist trace.json.gz",
    "is the GPU busy, does the CPU wait, is the queue deep?",
    NULL,
};

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    for (int i = 0; opt_nth(o, "set", i); i++)
        TRY(thresholds_set(&cx->th, opt_nth(o, "set", i), e));
    TRY(show_screen(cli, o, 0, &s, e));
    TRY(context_need(cx, &checklist_pass, e));
    if (cli->json) view_checklist_json(&cli->out, cx);
    else view_checklist_text(&s, cx);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_part(cli, o, show, e);
}

const struct cmd cmd_checklist = {
    .name = "checklist",
    .summary = "answers to the questions to ask of every trace",
    .args = "TRACE",
    .about = "Answers the questions people ask of every trace. Each answer has a measured value, "
             "says whether\n"
             "it is healthy, and warns where a naive reading would be wrong: a deep queue is "
             "healthy, and a\n"
             "wait that leaves no device idle costs nothing.",
    .examples = examples,
    .opts = opts,
    .terms = terms_thresholds,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
