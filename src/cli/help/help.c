/* help.c: --help texts. */
#include "cli/help/help.h"

#include <stdio.h>
#include <string.h>

#include "analyze/compare/budget.h"
#include "analyze/thresholds.h"
#include "base/jout.h"
#include "base/text.h"
#include "report/built_in.h"

static bool get_threshold(int i, struct cmd_term *ret)
{
    if (i >= TH_COUNT) return false;
    enum threshold t = (enum threshold)i;
    *ret = (struct cmd_term){.name = threshold_name(t), .help = threshold_help(t)};
    snprintf(ret->value, sizeof ret->value, "%g", threshold_default(t));
    return true;
}

static bool get_metric(const struct budget_metric *m, struct cmd_term *ret)
{
    *ret = (struct cmd_term){.name = m->name, .help = m->help};
    return m->name != NULL;
}

static bool get_trace_metric(int i, struct cmd_term *ret)
{
    return get_metric(&budget_metrics[i], ret);
}

static bool get_stage_metric(int i, struct cmd_term *ret)
{
    return get_metric(&budget_stage_metrics[i], ret);
}

static const struct cmd_terms thresholds = {"thresholds, with their defaults", get_threshold};
static const struct cmd_terms metrics = {"metrics of a budget", get_trace_metric};
static const struct cmd_terms stage_metrics = {"metrics of a stage: stage NAME METRIC <= NUMBER",
                                               get_stage_metric};

const struct cmd_terms *const terms_thresholds[] = {&thresholds, NULL};
const struct cmd_terms *const terms_budget[] = {&metrics, &stage_metrics, NULL};

enum { HELP_COLUMN = 28 }; /* where the explanation of an option starts */

static const char *const group_titles[] = {
    [GROUP_RECORD] = "record", [GROUP_DIAGNOSE] = "diagnose", [GROUP_NUMBERS] = "numbers",
    [GROUP_FILES] = "files",   [GROUP_HIDDEN] = "internal",
};

static void put_title(struct buf *out, const char *title, bool color)
{
    buf_addc(out, '\n');
    text_styled(out, TEXT_BOLD, color, title);
    buf_addc(out, '\n');
}

static void put_line(struct buf *out, const struct cmd *c)
{
    buf_printf(out, "  %-11s %s\n", c->name, c->summary);
}

void help_overview(struct buf *out, bool color)
{
    buf_adds(out,
             "Finds what makes a GPU pipeline slow, on which line, and what a fix would gain.\n\n"
             "usage: strata COMMAND [OPTIONS] ...\n");
    put_title(out, "most used", color);
    for (int i = 0; i < CMDS_MOST_USED; i++) put_line(out, cmds[i]);
    for (int g = 0; g < GROUP_HIDDEN; g++) {
        put_title(out, group_titles[g], color);
        for (int i = CMDS_MOST_USED; cmds[i]; i++)
            if (cmds[i]->group == (enum cmd_group)g) put_line(out, cmds[i]);
    }
    buf_adds(
        out,
        "\nTRACE is a PyTorch/Chrome trace (.json, .json.gz, .json.zst), a Perfetto trace "
        "(.pftrace),\n"
        "a JAX profile (.xplane.pb), JSON or a database of rocprofv3, a SQLite export of Nsight\n"
        "Systems, a .strata file, or - for standard input.\n\n"
        "strata COMMAND --help explains a command, strata explain RULE|TERM a rule or a term.\n"
        "Start with: strata report TRACE\n");
}

static bool names_all(const struct opt *o)
{
    for (const char *c = o->choices; *c; c += strcspn(c, "|"), c += *c == '|') {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(c, "|"), c);
        if (!str_has(str_c(o->help), word)) return false;
    }
    return true;
}

void help_option(struct buf *out, const struct opt *o)
{
    buf_adds(out, o->help);
    if (!o->choices || names_all(o)) return;
    const char *between = ": ";
    for (const char *c = o->choices; *c;) {
        size_t n = strcspn(c, "|");
        buf_adds(out, between);
        buf_add(out, c, n);
        c += n + (c[n] == '|');
        between = c[strcspn(c, "|")] ? ", " : " or ";
    }
}

static void put_opts(struct buf *out, const struct opt *o, int width)
{
    for (; o && o->name; o++) {
        size_t from = out->n;
        buf_adds(out, "  ");
        if (o->letter) buf_printf(out, "-%c, ", o->letter);
        buf_printf(out, "--%s", o->name);
        if (o->arg) buf_printf(out, " %s", o->arg);
        int used = (int)(out->n - from);
        if (used > HELP_COLUMN - 2) buf_addc(out, '\n'), used = 0;
        buf_pad(out, ' ', HELP_COLUMN - used);
        struct buf text;
        buf_init(&text);
        help_option(&text, o);
        text_wrap(out, buf_c(&text), HELP_COLUMN, width);
        buf_done(&text);
    }
}

static void put_terms(struct buf *out, const struct cmd_terms *terms, bool color, int width)
{
    struct cmd_term t;
    put_title(out, terms->title, color);
    for (int i = 0; terms->get(i, &t); i++) {
        buf_printf(out, "  %-20s %4s ", t.name, t.value);
        text_wrap(out, t.help, HELP_COLUMN, width);
    }
}

void help_command(struct buf *out, const struct cmd *c, bool color, int width)
{
    buf_printf(out, "usage: strata %s [OPTIONS]%s%s\n\n", c->name, c->args[0] ? " " : "", c->args);
    text_wrap(out, c->about ? c->about : c->summary, 0, width);
    put_title(out, "options", color);
    put_opts(out, c->opts, width);
    put_opts(out, cli_common_opts, width);
    for (int i = 0; c->terms && c->terms[i]; i++) put_terms(out, c->terms[i], color, width);
    if (!c->examples) return;
    put_title(out, "examples", color);
    for (int i = 0; c->examples[i] && c->examples[i + 1]; i += 2)
        buf_printf(out, "  %s\n      %s\n", c->examples[i], c->examples[i + 1]);
}

static void json_opts(struct jout *j, const struct opt *o)
{
    for (; o && o->name; o++) {
        jout_obj(j, NULL);
        jout_cstr(j, "name", o->name);
        jout_cstr(j, "value", o->arg);
        jout_cstr(j, "choices", o->choices);
        jout_cstr(j, "help", o->help);
        jout_end_obj(j);
    }
}

static void json_terms(struct jout *j, const struct cmd_terms *terms)
{
    struct cmd_term t;
    for (int i = 0; terms->get(i, &t); i++) {
        jout_obj(j, NULL);
        jout_cstr(j, "name", t.name);
        jout_cstr(j, "of", terms->title);
        jout_cstr(j, "default", t.value[0] ? t.value : NULL);
        jout_cstr(j, "help", t.help);
        jout_end_obj(j);
    }
}

static void json_command(struct jout *j, const struct cmd *c)
{
    jout_obj(j, NULL);
    jout_cstr(j, "name", c->name);
    jout_cstr(j, "group", group_titles[c->group]);
    jout_cstr(j, "summary", c->summary);
    jout_cstr(j, "operands", c->args);
    jout_cstr(j, "about", c->about);
    jout_arr(j, "options");
    json_opts(j, c->opts);
    json_opts(j, cli_common_opts);
    jout_end_arr(j);
    if (c->terms) jout_arr(j, "terms");
    for (int i = 0; c->terms && c->terms[i]; i++) json_terms(j, c->terms[i]);
    if (c->terms) jout_end_arr(j);
    jout_arr(j, "examples");
    for (int i = 0; c->examples && c->examples[i]; i += 2) jout_cstr(j, NULL, c->examples[i]);
    jout_end_arr(j);
    jout_end_obj(j);
}

void help_json(struct buf *out, const struct cmd *c)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_arr(&j, "commands");
    for (int i = 0; cmds[i]; i++)
        if (c ? cmds[i] == c : cmds[i]->group != GROUP_HIDDEN) json_command(&j, cmds[i]);
    jout_end_arr(&j);
    jout_end_obj(&j);
}

void help_glossary(struct cli *cli)
{
    struct jout j;
    if (!cli->json) {
        view_glossary_text(&cli->out, cli->color, cli->width);
        return;
    }
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    view_glossary_json(&j, "terms");
    jout_end_obj(&j);
}
