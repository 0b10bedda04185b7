/* cmd_help.c: `strata help`, also the generator of manual pages and completions for the build. */
#include <string.h>

#include "cli/cli.h"
#include "cli/help/help.h"
#include "report/built_in.h"

static const struct opt opts[] = {
    {"man", 0, NULL, "print the manual page instead", NULL},
    {"completion", 0, "SHELL", "print a completion script", "bash|zsh|fish"},
    {0},
};

static const char *const examples[] = {
    "strata help report",
    "what report does, and its options",
    "strata explain launch_bound",
    "what a rule looks for, how it knows, and how to fix it",
    "strata explain exposed",
    "a term; strata help glossary lists all, strata help rules all rules",
    "strata help schema report",
    "the JSON Schema of strata report --json; strata help schema lists the views",
    "strata help --completion bash > /etc/bash_completion.d/strata",
    "completion for bash",
    NULL,
};

static int cmd_help_schema(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *view = o->n_args > 1 ? o->args[1] : NULL;
    if (!view) documents_list(&cli->out);
    else if (!document_schema(&cli->out, view))
        return FAIL(e, ERR_USAGE, "no view is called %s; strata help schema lists them", view);
    return 0;
}

static int cmd_help_run(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *shell = opt_get(o, "completion", NULL);
    if (shell) {
        complete_script(&cli->out, shell);
        return 0;
    }
    const char *word = o->n_args ? o->args[0] : NULL;
    const struct cmd *c = o->n_args == 1 ? cmd_find(o->args[0]) : NULL;
    if (word && strcmp(word, "glossary") == 0) {
        help_glossary(cli);
        return 0;
    }
    if (word && strcmp(word, "schema") == 0) return cmd_help_schema(cli, o, e);
    if (word && !c) return explain(cli, o, e);
    if (opt_has(o, "man")) man_page(&cli->out, c);
    else if (cli->json) help_json(&cli->out, c);
    else if (c) help_command(&cli->out, c, cli->color, cli->width);
    else help_overview(&cli->out, cli->color);
    return 0;
}

const struct cmd cmd_help = {
    .name = "help",
    .summary = "explain a command, a rule, a term or a problem (also: strata explain WORD)",
    .args = "[COMMAND|RULE|TERM|PROBLEM|rules|glossary|problems|schema VIEW]",
    .about = "Explains a command, a rule that findings come from, a term of the reports, or a "
             "problem of a trace; lists all of a kind. Prints the JSON Schema of what a view "
             "writes with --json. Also prints manual pages and shell completions.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .max_args = -1,
    .run = cmd_help_run,
};
