/* cmd_check.c: `strata check`: a trace against a budget, for CI. */
#include "analyze/answer/checklist.h"
#include "base/file.h"
#include "cli/help/help.h"
#include "cli/show.h"
#include "report/compare/views_compare.h"

static const struct opt opts[] = {
    {"budget", 'b', "FILE", "limits, one per line: syncs_per_step <= 0", NULL},
    {"baseline", 0, "TRACE", "for limits such as step_ms <= 105 %: what it is 100 % of", NULL},
    {"limit", 0, "N", "number of rows to show, 0 for all (default all)", NULL},
    {"allow-untrusted", 0, NULL, "check a trace that is cut short, empty or unusable too", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata check trace.json.gz --budget budget.txt",
    "exits 1 if a limit is broken, 3 if the trace cannot be trusted",
    "strata check trace.json.gz --budget budget.txt --baseline main.json.gz",
    "limits such as step_ms <= 105 % are of what main.json.gz has",
    NULL,
};

/* A budget that cannot be read is a mistake of the caller, unlike a trace that cannot be trusted.
 */
static int cmd_check_open(struct file_map *file, const char *path, struct err *e)
{
    int rc = file_map(file, path, e);
    if (rc >= 0 || rc == ERR_NOMEM) return rc;
    if (e) e->code = ERR_USAGE;
    return ERR_USAGE;
}

/* Limits that are a share of a baseline, from its trace. */
static int cmd_check_baseline(struct cli *cli, const struct opts *o, struct budget *b,
                              struct err *e)
{
    const char *path = opt_get(o, "baseline", NULL);
    const struct budget_line *relative = budget_relative(b);
    if (relative && !path)
        return FAIL(e, ERR_USAGE, "line %d: '%s' needs --baseline TRACE", relative->number,
                    relative->text);
    if (!relative) return 0;
    struct arena mem;
    struct context cx;
    struct trace *t;
    arena_init(&mem);
    context_init(&cx, NULL, &mem);
    int rc = cli_open_judged(cli, o, path, &t, &cx, e);
    if (rc < 0) {
        arena_done(&mem);
        return rc;
    }
    rc = context_need(&cx, &checklist_pass, e);
    bool doubtful = rc == 0 && integrity_of(&cx)->quality >= QUALITY_DOUBTFUL;
    if (doubtful && !opt_has(o, "allow-untrusted"))
        rc = FAIL(e, ERR_FORMAT, "%s: the baseline cannot be trusted; strata info --lint says why",
                  path);
    if (rc == 0) budget_measure_baseline(b, &cx);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
    return rc;
}

static int cmd_check_check(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    const char *path = opt_get(o, "budget", NULL);
    if (!path) return FAIL(e, ERR_USAGE, "check needs --budget FILE; see strata check --help");
    struct file_map file;
    TRY(cmd_check_open(&file, path, e));
    struct budget b;
    int rc = budget_parse(&b, str_from(file.p, file.n), cx->mem, e);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    file_unmap(&file);
    if (rc < 0) return rc;
    struct screen s;
    TRY(show_screen(cli, o, 0, &s, e));
    TRY(context_need(cx, &checklist_pass, e));
    TRY(cmd_check_baseline(cli, o, &b, e));
    budget_measure(&b, cx, opt_has(o, "allow-untrusted"));
    if (cli->json) view_budget_json(SHOW_JSON(cli), &b, cx);
    else view_budget_text(&s, &b, cx);
    if (b.untrusted) return EXIT_BAD_INPUT;
    return b.n_broken + b.n_unknown ? EXIT_OVER_BUDGET : 0;
}

static int cmd_check_run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_judged_quiet(cli, o, cmd_check_check, e);
}

const struct cmd cmd_check = {
    .name = "check",
    .summary = "exit 1 if a trace breaks a budget, for CI",
    .args = "TRACE",
    .about =
        "Compares a trace with the limits in a text file, one per line, and exits 1 if one is "
        "broken or cannot be measured. A limit is a number, or with --baseline a percentage of "
        "what another trace has. If the trace is empty, cut short or otherwise unreliable, "
        "no limit is checked: it exits 3 with the reason, unless --allow-untrusted is given.",
    .examples = examples,
    .opts = opts,
    .terms = terms_budget,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_check_run,
};
