/* cmd_lint.c: `strata lint`: is the file complete, and is the recording consistent? */
#include "analyze/quality/integrity.h"
#include "cli/show.h"
#include "report/view_lint.h"

static const char *const examples[] = {
    "strata lint trace.json",
    "damage with byte offsets, then contradictions in the recording",
    "strata lint trace.json --json | jq '.checks[] | select(.count > 0)'",
    "only what was found",
    NULL,
};

static const struct opt opts[] = {{0}};

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct lint_results c;
    struct screen s;
    TRY(show_screen(cli, o, 0, &s, e));
    TRY(context_need(cx, &integrity_pass, e));
    TRY(lint_oddities_run(cx->t, cx->mem, &c, e));
    if (cli->json) view_lint_json(&cli->out, cx, &c);
    else view_lint_text(&s, cx->t, &c);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_trace(cli, o, show, e);
}

const struct cmd cmd_lint = {
    .name = "lint",
    .summary = "damage to the file and contradictions in the recording",
    .args = "TRACE",
    .about =
        "Lists what is wrong with the file, by reason and with byte offsets (of the decompressed "
        "text for .gz and .zst), then checks that the recording is consistent: work before its "
        "launch, "
        "syncs that return early, launches without work and work without launches, overlapping "
        "kernels, ids "
        "used twice, spans that cross.\n"
        "A warning means that some figures are wrong; a note is normal but good to know. The exit "
        "status is 0 unless the file cannot be read at all.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
