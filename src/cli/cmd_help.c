/* cmd_help.c: `strata help`, also the generator of manual pages and completions for the build. */
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

static const struct opt opts[] = {
    {"man", 0, NULL, "print the manual page instead", NULL},
    {"completion", 0, "SHELL", "print a completion script", "bash|zsh|fish"},
    {0},
};

static const char *const examples[] = {
    "strata help report",
    "what report does, and its options",
    "strata help glossary",
    "the terms used in reports",
    "strata help --completion bash > /etc/bash_completion.d/strata",
    "completion for bash",
    NULL,
};

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *shell = opt_get(o, "completion", NULL);
    if (shell) {
        complete_script(&cli->out, shell);
        return 0;
    }
    if (o->n_args && strcmp(o->args[0], "glossary") == 0) {
        help_glossary(cli);
        return 0;
    }
    const struct cmd *c = NULL;
    if (o->n_args) {
        c = cmd_find(o->args[0]);
        if (!c) return cmd_unknown(o->args[0], e);
    }
    if (opt_has(o, "man")) man_page(&cli->out, c);
    else if (cli->json) help_json(&cli->out, c);
    else if (c) help_command(&cli->out, c, cli->color, cli->width);
    else help_overview(&cli->out, cli->color);
    return 0;
}

const struct cmd cmd_help = {
    .name = "help",
    .summary = "explain a command, or the terms used (glossary)",
    .args = "[COMMAND|glossary]",
    .about = "Explains a command, lists all commands, or explains the terms used in reports. Also "
             "prints\n"
             "manual pages and shell completions.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .max_args = 1,
    .run = run,
};
