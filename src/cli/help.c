/* help.c: --help texts, manual pages and shell completions, generated from the command table. */
#include "cli/help.h"

#include <string.h>

#include "base/text.h"

static const char *const group_titles[] = {
    [GROUP_RECORD] = "record",
    [GROUP_DIAGNOSE] = "diagnose",
    [GROUP_NUMBERS] = "numbers",
    [GROUP_FILES] = "files",
};

void help_overview(struct buf *out, bool color)
{
    buf_adds(out,
             "Finds what makes a GPU pipeline slow, on which line, and what a fix would gain.\n\n"
             "usage: strata COMMAND [OPTIONS] ...\n");
    for (int g = 0; g < GROUP_HIDDEN; g++) {
        bool any = false;
        for (int i = 0; cmds[i]; i++) {
            if (cmds[i]->group != (enum cmd_group)g) continue;
            if (!any) {
                buf_addc(out, '\n');
                text_styled(out, TEXT_BOLD, color, group_titles[g]);
                buf_addc(out, '\n');
            }
            any = true;
            buf_printf(out, "  %-11s %s\n", cmds[i]->name, cmds[i]->summary);
        }
    }
    buf_adds(out, "\nTRACE is a PyTorch/Chrome trace (.json, .json.gz, .json.zst), a .strata file, "
                  "an Nsight\n"
                  "Systems SQLite export, or - for standard input.\n\n"
                  "strata COMMAND --help tells more. Start with: strata report TRACE\n");
}

static void put_opts(struct buf *out, const struct opt *o)
{
    for (; o && o->name; o++) {
        size_t from = out->n;
        buf_adds(out, "  ");
        if (o->letter) buf_printf(out, "-%c, ", o->letter);
        buf_printf(out, "--%s", o->name);
        if (o->arg) buf_printf(out, " %s", o->arg);
        int used = (int)(out->n - from);
        if (used > 26) buf_addc(out, '\n'), used = 0;
        buf_pad(out, ' ', 28 - used);
        buf_printf(out, "%s\n", o->help);
    }
}

void help_command(struct buf *out, const struct cmd *c, bool color)
{
    buf_printf(out, "usage: strata %s [OPTIONS]%s%s\n\n", c->name, c->args[0] ? " " : "", c->args);
    if (c->about) buf_printf(out, "%s\n", c->about);
    buf_addc(out, '\n');
    text_styled(out, TEXT_BOLD, color, "options");
    buf_addc(out, '\n');
    put_opts(out, c->opts);
    put_opts(out, cli_common_opts);
    if (!c->examples) return;
    buf_addc(out, '\n');
    text_styled(out, TEXT_BOLD, color, "examples");
    buf_addc(out, '\n');
    for (int i = 0; c->examples[i] && c->examples[i + 1]; i += 2)
        buf_printf(out, "  %s\n      %s\n", c->examples[i], c->examples[i + 1]);
}

/* troff: a leading dot or quote would be a request, a backslash an escape, a hyphen a dash. */
static void put_troff(struct buf *out, const char *s)
{
    if (*s == '.' || *s == '\'') buf_adds(out, "\\&");
    for (; *s; s++) {
        if (*s == '\\') buf_adds(out, "\\e");
        else if (*s == '-') buf_adds(out, "\\-");
        else buf_addc(out, *s);
        if (*s == '\n' && (s[1] == '.' || s[1] == '\'')) buf_adds(out, "\\&");
    }
}

static void man_opts(struct buf *out, const struct opt *o)
{
    for (; o && o->name; o++) {
        buf_adds(out, ".TP\n\\fB");
        if (o->letter) buf_printf(out, "\\-%c\\fR, \\fB", o->letter);
        buf_adds(out, "\\-\\-");
        put_troff(out, o->name);
        buf_adds(out, "\\fR");
        if (o->arg) buf_printf(out, " \\fI%s\\fR", o->arg);
        buf_addc(out, '\n');
        put_troff(out, o->help);
        buf_addc(out, '\n');
    }
}

static void man_command(struct buf *out, const struct cmd *c)
{
    buf_printf(out, ".TH STRATA\\-%s 1\n.SH NAME\nstrata\\-%s \\- ", c->name, c->name);
    put_troff(out, c->summary);
    buf_printf(out, "\n.SH SYNOPSIS\n\\fBstrata %s\\fR [\\fIOPTIONS\\fR] ", c->name);
    put_troff(out, c->args);
    buf_adds(out, "\n.SH DESCRIPTION\n");
    put_troff(out, c->about ? c->about : c->summary);
    buf_adds(out, "\n.SH OPTIONS\n");
    man_opts(out, c->opts);
    man_opts(out, cli_common_opts);
    if (c->examples) buf_adds(out, ".SH EXAMPLES\n");
    for (int i = 0; c->examples && c->examples[i]; i += 2) {
        buf_adds(out, ".TP\n\\fB");
        put_troff(out, c->examples[i]);
        buf_adds(out, "\\fR\n");
        put_troff(out, c->examples[i + 1]);
        buf_addc(out, '\n');
    }
    buf_adds(out, ".SH SEE ALSO\n.BR strata (1)\n");
}

static void man_program(struct buf *out)
{
    buf_adds(out,
             ".TH STRATA 1\n.SH NAME\nstrata \\- find what makes a GPU pipeline slow\n"
             ".SH SYNOPSIS\n\\fBstrata\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH COMMANDS\n");
    for (int i = 0; cmds[i]; i++) {
        if (cmds[i]->group == GROUP_HIDDEN) continue;
        buf_printf(out, ".TP\n\\fBstrata\\-%s\\fR(1)\n", cmds[i]->name);
        put_troff(out, cmds[i]->summary);
        buf_addc(out, '\n');
    }
    buf_adds(out,
             ".SH EXIT STATUS\n0 ok, 1 over budget, 2 usage, 3 bad input, 4 internal error.\n"
             ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nno colour.\n.TP\n\\fBSTRATA_THREADS\\fR\n"
             "number of threads to read with.\n");
}

void help_man(struct buf *out, const struct cmd *c)
{
    if (c) man_command(out, c);
    else man_program(out);
}

typedef void put_opt_fn(struct buf *out, const struct cmd *c, const struct opt *o);

static void each_opt(struct buf *out, const struct cmd *c, put_opt_fn *put)
{
    for (const struct opt *o = c->opts; o && o->name; o++) put(out, c, o);
    for (const struct opt *o = cli_common_opts; o->name; o++) put(out, c, o);
}

static void bash_opt(struct buf *out, const struct cmd *c, const struct opt *o)
{
    (void)c;
    buf_printf(out, " --%s", o->name);
}

static void put_names(struct buf *out)
{
    for (int i = 0; cmds[i]; i++)
        if (cmds[i]->group != GROUP_HIDDEN) buf_printf(out, " %s", cmds[i]->name);
}

static void complete_bash(struct buf *out)
{
    buf_adds(out, "_strata() {\n  local cur=${COMP_WORDS[COMP_CWORD]}\n"
                  "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
    put_names(out);
    buf_adds(
        out,
        "\" -- \"$cur\")); return\n  fi\n  case $cur in\n  -*)\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; cmds[i]; i++) {
        if (cmds[i]->group == GROUP_HIDDEN) continue;
        buf_printf(out, "    %s) COMPREPLY=($(compgen -W \"", cmds[i]->name);
        each_opt(out, cmds[i], bash_opt);
        buf_adds(out, "\" -- \"$cur\")) ;;\n");
    }
    buf_adds(out, "    esac ;;\n  *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n  esac\n}\n"
                  "complete -o filenames -F _strata strata\n");
}

/* zsh and fish texts stand in single quotes: an apostrophe must not end them. */
static void put_quoted(struct buf *out, const char *s, const char *apostrophe)
{
    buf_addc(out, '\'');
    for (; *s; s++) {
        if (*s == '\'') buf_adds(out, apostrophe);
        else if (*s == '[' || *s == ']' || *s == ':') buf_printf(out, "\\%c", *s);
        else buf_addc(out, *s);
    }
    buf_addc(out, '\'');
}

static void zsh_opt(struct buf *out, const struct cmd *c, const struct opt *o)
{
    (void)c;
    buf_printf(out, " '--%s%s'", o->name, o->arg ? "=" : "");
}

static void complete_zsh(struct buf *out)
{
    buf_adds(out, "#compdef strata\nlocal -a commands\ncommands=(\n");
    for (int i = 0; cmds[i]; i++) {
        if (cmds[i]->group == GROUP_HIDDEN) continue;
        buf_printf(out, "  %s:", cmds[i]->name);
        put_quoted(out, cmds[i]->summary, "'\\''");
        buf_addc(out, '\n');
    }
    buf_adds(out, ")\nif (( CURRENT == 2 )); then _describe command commands; return; fi\ncase "
                  "$words[2] in\n");
    for (int i = 0; cmds[i]; i++) {
        if (cmds[i]->group == GROUP_HIDDEN) continue;
        buf_printf(out, "%s) _arguments", cmds[i]->name);
        each_opt(out, cmds[i], zsh_opt);
        buf_adds(out, " '*:file:_files' ;;\n");
    }
    buf_adds(out, "esac\n");
}

static void fish_text(struct buf *out, const char *s)
{
    buf_addc(out, '\'');
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\') buf_addc(out, '\\');
        buf_addc(out, *s);
    }
    buf_addc(out, '\'');
}

static void fish_opt(struct buf *out, const struct cmd *c, const struct opt *o)
{
    buf_printf(out, "complete -c strata -n '__fish_seen_subcommand_from %s' -l %s", c->name,
               o->name);
    if (o->letter) buf_printf(out, " -s %c", o->letter);
    if (o->arg) buf_adds(out, " -r");
    buf_adds(out, " -d ");
    fish_text(out, o->help);
    buf_addc(out, '\n');
}

static void complete_fish(struct buf *out)
{
    for (int i = 0; cmds[i]; i++) {
        if (cmds[i]->group == GROUP_HIDDEN) continue;
        buf_printf(out, "complete -c strata -n __fish_use_subcommand -a %s -d ", cmds[i]->name);
        fish_text(out, cmds[i]->summary);
        buf_addc(out, '\n');
        each_opt(out, cmds[i], fish_opt);
    }
}

void help_completion(struct buf *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0) complete_bash(out);
    else if (strcmp(shell, "zsh") == 0) complete_zsh(out);
    else complete_fish(out);
}
