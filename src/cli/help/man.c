/* man.c: manual pages. */
#include "cli/help/help.h"

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

static void put_heading(struct buf *out, const char *command)
{
    buf_adds(out, ".TH STRATA");
    for (const char *c = command; c && *c; c++) {
        if (c == command) buf_adds(out, "\\-");
        buf_addc(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    }
    buf_adds(out, " 1 \"\" \"strata " STRATA_VERSION "\" \"Strata manual\"\n");
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
        struct buf text;
        buf_init(&text);
        help_option(&text, o);
        put_troff(out, buf_c(&text));
        buf_done(&text);
        buf_addc(out, '\n');
    }
}

static void man_terms(struct buf *out, const struct cmd_terms *terms)
{
    struct cmd_term t;
    buf_adds(out, ".SS ");
    put_troff(out, terms->title);
    buf_addc(out, '\n');
    for (int i = 0; terms->get(i, &t); i++) {
        buf_printf(out, ".TP\n\\fB%s\\fR", t.name);
        if (t.value[0]) buf_printf(out, " (%s)", t.value);
        buf_addc(out, '\n');
        put_troff(out, t.help);
        buf_addc(out, '\n');
    }
}

static void man_command(struct buf *out, const struct cmd *c)
{
    put_heading(out, c->name);
    buf_printf(out, ".SH NAME\nstrata\\-%s \\- ", c->name);
    put_troff(out, c->summary);
    buf_printf(out, "\n.SH SYNOPSIS\n\\fBstrata %s\\fR [\\fIOPTIONS\\fR] ", c->name);
    put_troff(out, c->args);
    buf_adds(out, "\n.SH DESCRIPTION\n");
    put_troff(out, c->about ? c->about : c->summary);
    buf_adds(out, "\n.SH OPTIONS\n");
    man_opts(out, c->opts);
    man_opts(out, cli_common_opts);
    for (int i = 0; c->terms && c->terms[i]; i++) man_terms(out, c->terms[i]);
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
    put_heading(out, NULL);
    buf_adds(out,
             ".SH NAME\nstrata \\- find what makes a GPU pipeline slow\n"
             ".SH SYNOPSIS\n\\fBstrata\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH COMMANDS\n");
    for (int i = 0; cmds[i]; i++) {
        if (cmds[i]->group == GROUP_HIDDEN) continue;
        buf_printf(out, ".TP\n\\fBstrata\\-%s\\fR(1)\n", cmds[i]->name);
        put_troff(out, cmds[i]->summary);
        buf_addc(out, '\n');
    }
    buf_adds(
        out,
        ".SH EXIT STATUS\n0 success, 1 over budget, 2 wrong usage, 3 bad input, 4 internal error.\n"
        ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nno colour.\n.TP\n\\fBSTRATA_*\\fR\n"
        "what is recorded, and where; docs/settings.md lists them.\n");
}

void man_page(struct buf *out, const struct cmd *c)
{
    if (c) man_command(out, c);
    else man_program(out);
}
