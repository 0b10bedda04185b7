/* explain.c: see help.h. */
#include "cli/help/help.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analyze/quality/problems.h"
#include "base/glossary.h"
#include "base/jout.h"
#include "base/text.h"
#include "report/built_in.h"

enum { MOST_NAMES = 256 };

/* The heading of a page, without its mark. */
static struct str explain_title(const struct rule_page *p)
{
    const char *text = p->text + strspn(p->text, "# ");
    return str_from(text, strcspn(text, "\n"));
}

static void explain_rules(struct cli *cli)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    if (cli->json) jout_obj(&j, NULL), jout_arr(&j, "rules");
    for (const struct rule_page *p = rule_pages; p->id; p++) {
        struct str title = explain_title(p);
        if (!cli->json) {
            buf_printf(&cli->out, "  %-20s " STR_FMT "\n", p->id, STR_ARG(title));
            continue;
        }
        jout_obj(&j, NULL);
        jout_cstr(&j, "rule", p->id);
        jout_str(&j, "title", title);
        jout_end_obj(&j);
    }
    if (cli->json) jout_end_arr(&j), jout_end_obj(&j);
}

static void explain_rule(struct cli *cli, const struct rule_page *p)
{
    struct jout j;
    if (!cli->json) {
        page_text_print(cli, p->text);
        return;
    }
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "rule", p->id);
    jout_str(&j, "title", explain_title(p));
    jout_cstr(&j, "page", p->text);
    jout_end_obj(&j);
}

static void explain_term(struct cli *cli, const struct glossary_term *g)
{
    struct jout j;
    if (!cli->json) {
        text_styled(&cli->out, TEXT_BOLD, cli->color, g->term);
        buf_adds(&cli->out, "\n  ");
        text_wrap(&cli->out, g->meaning, 2, cli->width);
        return;
    }
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "term", g->term);
    jout_cstr(&j, "meaning", g->meaning);
    jout_end_obj(&j);
}

/* What is known of a problem of traces; in a list its title is enough on the screen. */
static void explain_problem_text(struct cli *cli, const struct problem_kind *k, bool listed)
{
    struct buf *out = &cli->out;
    const char *const parts[][2] = {
        {"As a note: ", k->note}, {"It means: ", k->means}, {"Instead: ", k->instead}};
    if (listed) {
        buf_printf(out, "  %-28s %s\n", k->id, k->title);
        return;
    }
    text_styled(out, TEXT_BOLD, cli->color, k->id);
    buf_adds(out, "\n  ");
    text_wrap(out, k->title, 2, cli->width);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!*parts[i][1]) continue;
        buf_printf(out, "  %s", parts[i][0]);
        text_wrap(out, parts[i][1], 4, cli->width);
    }
    if (!k->takes) return;
    buf_printf(out, "  Not to be trusted where the quality is %s or worse:",
               quality_name((enum quality)k->takes_from));
    for (int i = 0; i < N_FIGURES; i++)
        if (k->takes & figures_words[i].flag) buf_printf(out, " %s", figures_words[i].name);
    buf_addc(out, '\n');
}

static void explain_problem_json(struct jout *j, const struct problem_kind *k)
{
    jout_obj(j, NULL);
    jout_cstr(j, "problem", k->id);
    jout_cstr(j, "title", k->title);
    jout_cstr(j, "note", k->note);
    jout_cstr(j, "means", k->means);
    jout_cstr(j, "instead", k->instead);
    jout_arr(j, "takes");
    for (int i = 0; i < N_FIGURES; i++)
        if (k->takes & figures_words[i].flag) jout_cstr(j, NULL, figures_words[i].name);
    jout_end_arr(j);
    jout_cstr(j, "takes_from", k->takes ? quality_name((enum quality)k->takes_from) : NULL);
    jout_bool(j, "handled", k->handled);
    jout_end_obj(j);
}

static void explain_problem(struct cli *cli, const struct problem_kind *k)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    if (cli->json) explain_problem_json(&j, k);
    else explain_problem_text(cli, k, false);
}

static void explain_problems(struct cli *cli)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    if (cli->json) jout_obj(&j, NULL), jout_arr(&j, "problems");
    for (int i = 0; i < N_PROBLEMS; i++) {
        if (cli->json) explain_problem_json(&j, &problem_kinds[i]);
        else explain_problem_text(cli, &problem_kinds[i], true);
    }
    if (cli->json) jout_end_arr(&j), jout_end_obj(&j);
}

/* Names are the same whatever their case, with '-' or '_' for blanks. */
static bool explain_same(const char *a, size_t n, const char *b)
{
    size_t i = 0;
    for (; i < n && b[i]; i++) {
        char x = a[i] == '-' || a[i] == '_' ? ' ' : a[i],
             y = b[i] == '-' || b[i] == '_' ? ' ' : b[i];
        if (strncasecmp(&x, &y, 1) != 0) return false;
    }
    return i == n && !b[i];
}

static bool explain_is(const struct glossary_term *g, const char *word)
{
    if (explain_same(g->term, strlen(g->term), word)) return true;
    for (const char *also = g->also; also && *also;) {
        size_t n = strcspn(also, "|");
        if (explain_same(also, n, word)) return true;
        also += n + (also[n] == '|');
    }
    return false;
}

/* Names that contain the word, else the nearest one by its letters. */
static int explain_unknown(const char *word, struct err *e)
{
    const char *names[MOST_NAMES], *near;
    char list[256] = "";
    int n = 0, n_near = 0;
    for (int i = 0; cmds[i] && n < MOST_NAMES; i++) names[n++] = cmds[i]->name;
    for (int i = 0; rule_pages[i].id && n < MOST_NAMES; i++) names[n++] = rule_pages[i].id;
    for (int i = 0; glossary[i].term && n < MOST_NAMES; i++) names[n++] = glossary[i].term;
    for (int i = 0; i < N_PROBLEMS && n < MOST_NAMES; i++) names[n++] = problem_kinds[i].id;
    for (int i = 0; i < n && n_near < 5; i++) {
        size_t used = strlen(list);
        if (strlen(word) < 3 || !strcasestr(names[i], word)) continue;
        snprintf(list + used, sizeof list - used, "%s'%s'", n_near++ ? ", " : "", names[i]);
    }
    if (n_near)
        return FAIL(e, ERR_USAGE, "nothing is called '%s'. Did you mean one of %s?", word, list);
    near = opt_nearest(word, names, n);
    if (near) return FAIL(e, ERR_USAGE, "nothing is called '%s'. Did you mean '%s'?", word, near);
    return FAIL(
        e, ERR_USAGE,
        "no command, rule, term or problem is called '%s'. strata help lists commands, strata "
        "help rules rules, strata help glossary terms, strata help problems problems of a "
        "trace.",
        word);
}

/* A heading of a table that the glossary does not have. */
static bool explain_heading(struct cli *cli, const char *word)
{
    struct buf text;
    struct jout j;
    buf_init(&text);
    bool found = *word && documents_heading(&text, word, cli->width);
    if (found && cli->json) {
        jout_init(&j, &cli->out, true);
        jout_obj(&j, NULL);
        jout_cstr(&j, "heading", word);
        jout_str(&j, "meaning", buf_str(&text));
        jout_end_obj(&j);
    } else if (found) {
        text_styled(&cli->out, TEXT_BOLD, cli->color, word);
        buf_addc(&cli->out, '\n');
        buf_add_str(&cli->out, buf_str(&text));
    }
    if (text.failed) cli->out.failed = true;
    buf_done(&text);
    return found;
}

int explain(struct cli *cli, const struct opts *o, struct err *e)
{
    char word[128] = "";
    for (int i = 0; i < o->n_args; i++) {
        size_t used = strlen(word);
        snprintf(word + used, sizeof word - used, "%s%s", i ? " " : "", o->args[i]);
    }
    if (strcmp(word, "rules") == 0) {
        explain_rules(cli);
        return 0;
    }
    if (strcmp(word, "problems") == 0) {
        explain_problems(cli);
        return 0;
    }
    for (int i = 0; i < N_PROBLEMS; i++)
        if (explain_same(problem_kinds[i].id, strlen(problem_kinds[i].id), word))
            return explain_problem(cli, &problem_kinds[i]), 0;
    for (const struct rule_page *p = rule_pages; p->id; p++)
        if (explain_same(p->id, strlen(p->id), word)) return explain_rule(cli, p), 0;
    for (const struct glossary_term *g = glossary; g->term; g++)
        if (explain_is(g, word)) return explain_term(cli, g), 0;
    return explain_heading(cli, word) ? 0 : explain_unknown(word, e);
}
