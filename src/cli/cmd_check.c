/* cmd_check.c: `strata check`: a trace against a budget, for CI. */
#include "analyze/rules/checklist.h"
#include "base/file.h"
#include "cli/show.h"
#include "cli/terms.h"
#include "report/view_budget.h"

static const struct opt opts[] = {
    {"budget", 'b', "FILE", "limits, one per line: syncs_per_step <= 0", NULL},
    {"limit", 0, "N", "number of rows to show, 0 for all (default all)", NULL},
    {"allow-untrusted", 0, NULL, "check a trace that is cut short, empty or unusable too", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata check trace.json.gz --budget budget.txt",
    "exits 1 if a limit is broken, 3 if the trace cannot be trusted",
    NULL,
};

static int check(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    const char *path = opt_get(o, "budget", NULL);
    if (!path) return FAIL(e, ERR_USAGE, "check needs --budget FILE; see strata check --help");
    struct file_map file;
    TRY(file_map(&file, path, e));
    struct budget b;
    int rc = budget_parse(&b, str_from(file.p, file.n), cx->mem, e);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    file_unmap(&file);
    if (rc < 0) return rc;
    struct screen s;
    TRY(show_screen(cli, o, 0, &s, e));
    TRY(context_need(cx, &checklist_pass, e));
    budget_measure(&b, cx, opt_has(o, "allow-untrusted"));
    if (cli->json) view_budget_json(&cli->out, &b, cx);
    else view_budget_text(&s, &b, cx);
    if (b.untrusted) return EXIT_BAD_INPUT;
    return b.n_broken + b.n_unknown ? EXIT_OVER_BUDGET : 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_part_untold(cli, o, check, e);
}

const struct cmd cmd_check = {
    .name = "check",
    .summary = "exit 1 if a trace breaks a budget, for CI",
    .args = "TRACE",
    .about = "Compares a trace with the limits in a text file, one per line, and exits 1 if one is "
             "broken or\n"
             "cannot be measured. A trace that is empty, cut short or otherwise not to be trusted "
             "keeps no\n"
             "limit: it exits 3 with the reason, unless --allow-untrusted is given.",
    .examples = examples,
    .opts = opts,
    .terms = terms_budget,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
