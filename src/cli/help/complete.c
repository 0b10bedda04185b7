/* complete.c: completion scripts for bash, zsh and fish. The first word is a command; after it come
 * its options, the choices of an option that has them, and files. */
#include <string.h>

#include "cli/help/help.h"
#include "report/built_in.h"

typedef void put_opt_fn(struct buf *out, const struct cmd *c, const struct opt *o);

static void each_opt(struct buf *out, const struct cmd *c, put_opt_fn *put)
{
    for (const struct opt *o = c->opts; o && o->name; o++) put(out, c, o);
    for (const struct opt *o = cli_common_opts; o->name; o++) put(out, c, o);
}

static bool is_listed(const struct cmd *c)
{
    return c->group != GROUP_HIDDEN;
}

static void complete_put_names(struct buf *out)
{
    const char *blank = "";
    for (int i = 0; cmds[i]; i++) {
        if (!is_listed(cmds[i])) continue;
        buf_printf(out, "%s%s", blank, cmds[i]->name);
        blank = " ";
    }
}

/* "a|b|c" as words. */
static void complete_put_choices(struct buf *out, const char *choices)
{
    for (; *choices; choices++) buf_addc(out, *choices == '|' ? ' ' : *choices);
}

/* Between single quotes; `escape` lists what needs a backslash, `apostrophe` how to write one. */
static void complete_put_quoted(struct buf *out, const char *s, const char *escape,
                                const char *apostrophe)
{
    for (; *s; s++) {
        if (*s == '\'') buf_adds(out, apostrophe);
        else if (strchr(escape, *s)) buf_printf(out, "\\%c", *s);
        else buf_addc(out, *s);
    }
}

static void bash_opt(struct buf *out, const struct cmd *c, const struct opt *o)
{
    (void)c;
    buf_printf(out, " --%s", o->name);
}

static void bash_choices(struct buf *out, const struct cmd *c, const struct opt *o)
{
    if (!o->choices) return;
    buf_printf(out, "  %s:--%s) words='", c->name, o->name);
    complete_put_choices(out, o->choices);
    buf_adds(out, "' ;;\n");
}

static void complete_bash(struct buf *out)
{
    buf_adds(out, "_strata() {\n"
                  "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
                  "  local names='");
    complete_put_names(out);
    buf_adds(out, " explain'\n  [ \"$COMP_CWORD\" -eq 1 ] && words=$names\n"
                  "  case ${COMP_WORDS[1]}:$prev in\n"
                  "  help:help|explain:explain) words=\"$names glossary rules problems");
    for (const struct rule_page *p = rule_pages; p->id; p++) buf_printf(out, " %s", p->id);
    buf_adds(out, "\" ;;\n");
    for (int i = 0; cmds[i]; i++)
        if (is_listed(cmds[i])) each_opt(out, cmds[i], bash_choices);
    buf_adds(out, "  esac\n  case $cur in -*)\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; cmds[i]; i++) {
        if (!is_listed(cmds[i])) continue;
        buf_printf(out, "    %s) words='", cmds[i]->name);
        each_opt(out, cmds[i], bash_opt);
        buf_adds(out, "' ;;\n");
    }
    buf_adds(out, "    esac ;;\n  esac\n"
                  "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                  "  else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n}\n"
                  "complete -o filenames -F _strata strata\n");
}

static void zsh_opt(struct buf *out, const struct cmd *c, const struct opt *o)
{
    (void)c;
    if (o->letter) {
        buf_printf(out, " \\\n    '(-%c --%s)-%c[", o->letter, o->name, o->letter);
        complete_put_quoted(out, o->help, "[]:", "'\\''");
        buf_adds(out, o->arg ? "]:value:_files'" : "]'");
    }
    buf_printf(out, " \\\n    '--%s%s[", o->name, o->arg ? "=" : "");
    complete_put_quoted(out, o->help, "[]:", "'\\''");
    buf_addc(out, ']');
    if (o->arg) buf_printf(out, ":%s:", o->arg);
    if (o->choices) {
        buf_addc(out, '(');
        complete_put_choices(out, o->choices);
        buf_addc(out, ')');
    } else if (o->arg) {
        buf_adds(out, "_files");
    }
    buf_addc(out, '\'');
}

static void complete_zsh(struct buf *out)
{
    buf_adds(out, "#compdef strata\n_strata() {\n  local -a commands\n  commands=(\n");
    for (int i = 0; cmds[i]; i++) {
        if (!is_listed(cmds[i])) continue;
        buf_printf(out, "    '%s:", cmds[i]->name);
        complete_put_quoted(out, cmds[i]->summary, "", "'\\''");
        buf_adds(out, "'\n");
    }
    buf_adds(out, "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
                  "  shift words; (( CURRENT-- ))\n  case $words[1] in\n");
    for (int i = 0; cmds[i]; i++) {
        if (!is_listed(cmds[i])) continue;
        buf_printf(out, "  %s) _arguments", cmds[i]->name);
        each_opt(out, cmds[i], zsh_opt);
        buf_adds(out, " \\\n    '*:file:_files' ;;\n");
    }
    buf_adds(out, "  esac\n}\n_strata \"$@\"\n");
}

static void fish_opt(struct buf *out, const struct cmd *c, const struct opt *o)
{
    buf_printf(out, "complete -c strata -n '__fish_seen_subcommand_from %s' -l %s", c->name,
               o->name);
    if (o->letter) buf_printf(out, " -s %c", o->letter);
    if (o->choices) {
        buf_adds(out, " -x -a '");
        complete_put_choices(out, o->choices);
        buf_addc(out, '\'');
    } else if (o->arg) {
        buf_adds(out, " -r");
    }
    buf_adds(out, " -d '");
    complete_put_quoted(out, o->help, "\\", "\\'");
    buf_adds(out, "'\n");
}

static void complete_fish(struct buf *out)
{
    for (int i = 0; cmds[i]; i++) {
        if (!is_listed(cmds[i])) continue;
        buf_printf(out, "complete -c strata -n __fish_use_subcommand -f -a %s -d '", cmds[i]->name);
        complete_put_quoted(out, cmds[i]->summary, "\\", "\\'");
        buf_adds(out, "'\n");
        each_opt(out, cmds[i], fish_opt);
    }
}

void complete_script(struct buf *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0) complete_bash(out);
    else if (strcmp(shell, "zsh") == 0) complete_zsh(out);
    else complete_fish(out);
}
