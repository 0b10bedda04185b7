/* view_report_findings.c: the findings on the screen of a report: a line for each, and cause, fix
 * and commands of the first ones, in the lines that there are. */
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/utf8.h"
#include "report/diagnosis/view_report.h"

/* Column where the text of a finding begins, below its title. */
#define INDENT 12
/* Lines of a sentence where lines are scarce; longer ones end at a clause. */
#define SENTENCE_LINES 2
/* Lines that no sentence needs. */
#define SENTENCE_WHOLE 9
/* Findings with a line. */
#define VIEW_REPORT_LISTED 16
/* A gain that is not worth a figure. */
#define VIEW_REPORT_NOTHING_PCT 0.1

/* The text up to where `most` columns end, cut at the end of a clause. */
static struct str view_report_clause(struct str text, size_t most)
{
    if (text.n <= most) return text;
    for (size_t i = most; i > most / 3; i--)
        if ((text.p[i] == ' ' && strchr(";:,", text.p[i - 1])) ||
            (text.p[i] == ' ' && text.p[i + 1] == '('))
            return str_from(text.p, i - (text.p[i + 1] != '('));
    return str_from(text.p, most);
}

/* How much of an explanation is shown. */
struct view_report_depth {
    int why, fix; /* lines of these sentences */
    int brief;    /* 1: without the ways to fix it; 2: without the cause, too */
};

static void view_report_put_sentence(const struct screen *s, const char *text, int lines)
{
    struct buf line;
    int room = (s->width - INDENT) * lines - 8;
    struct str whole = rule_sentence(text);
    struct str part = view_report_clause(whole, room > 40 ? (size_t)room : 40);
    buf_init(&line);
    buf_add_str(&line, part);
    if (part.n < whole.n) buf_adds(&line, " ...");
    text_wrap(s->out, buf_c(&line), INDENT, s->width);
    if (line.failed) s->out->failed = true;
    buf_done(&line);
}

/* "advice.py:37 in f", or what it is about; a path that is too long loses its folders first, a
 * collective the name of its kernel. */
const char *view_report_place(const struct finding *f, int width, struct buf *out)
{
    char cut[256];
    for (int part = 0; part < 3; part++) {
        buf_reset(out);
        if (!f->file) {
            const char *kernel = part && f->subject ? strstr(f->subject, " in ") : NULL;
            if (f->subject)
                buf_add_str(out, kernel ? str_from(f->subject, (size_t)(kernel - f->subject))
                                        : str_c(f->subject));
        } else {
            buf_add_str(out, part ? frame_file(str_c(f->file)) : str_c(f->file));
            frame_print_line(out, f->line);
            if (part < 2 && f->function && f->function[0]) buf_printf(out, " in %s", f->function);
        }
        if ((int)out->n <= width) return buf_c(out);
    }
    const char *text = human_cut(buf_str(out), width, cut, sizeof cut);
    buf_reset(out);
    buf_adds(out, text);
    return buf_c(out);
}

bool view_report_lists(const struct context *cx, const struct finding *f)
{
    if (findings_of(cx)->unpriced) return true;
    return answer_is_worth(answer_of(cx), f);
}

static int view_report_title_width(const struct context *cx)
{
    int widest = 24;
    for (uint32_t i = 0; i < findings_of(cx)->n; i++) {
        int n = (int)strlen(findings_of(cx)->items[i]->title);
        if (view_report_lists(cx, findings_of(cx)->items[i]) && n > widest) widest = n;
    }
    return widest < 46 ? widest : 46;
}

static int view_report_effort_width(const struct context *cx)
{
    int widest = 0;
    for (uint32_t i = 0; i < findings_of(cx)->n; i++) {
        const struct finding *f = findings_of(cx)->items[i];
        int n = (int)strlen(effort_words(f->effort));
        if (view_report_lists(cx, f) && n > widest) widest = n;
    }
    return widest;
}

static bool view_report_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Another listed finding has the same title and line: then what each is about tells them apart. */
static bool view_report_is_double(const struct context *cx, uint32_t at)
{
    const struct findings *f = findings_of(cx);
    const struct finding *x = f->items[at];
    for (uint32_t i = 0; i < f->n; i++) {
        const struct finding *y = f->items[i];
        if (i != at && view_report_lists(cx, y) && x->line == y->line &&
            view_report_same(x->title, y->title) && view_report_same(x->file, y->file))
            return true;
    }
    return false;
}

/* One line: percent, title, place, effort. */
static void view_report_put_line(const struct screen *s, const struct context *cx, uint32_t at)
{
    const struct finding *f = findings_of(cx)->items[at];
    struct buf place;
    char head[48], cut[256];
    int title = view_report_title_width(cx), columns = s->columns ? s->columns : s->width;
    int room = columns - INDENT - title - 2 - 2 - view_report_effort_width(cx);
    if (room > VIEW_REPORT_PLACE) room = VIEW_REPORT_PLACE;
    snprintf(head, sizeof head, "  %-2u%4.*f %%%s ", at + 1, f->gain_pct < 9.95, -f->gain_pct,
             f->together ? "*" : " ");
    text_styled(s->out,
                f->severity == SEVERITY_HIGH     ? TEXT_RED
                : f->severity == SEVERITY_MEDIUM ? TEXT_YELLOW
                                                 : TEXT_PLAIN,
                s->color, head);
    text_styled(s->out, TEXT_BOLD, s->color, human_cut(str_c(f->title), title, cut, sizeof cut));
    buf_pad(s->out, ' ', title - (int)strlen(f->title));
    buf_init(&place);
    const char *where = view_report_is_double(cx, at)
                            ? human_cut(str_c(f->subject), room, cut, sizeof cut)
                            : view_report_place(f, room, &place);
    buf_printf(s->out, "  %s", where);
    buf_pad(s->out, ' ', room - utf8_width(str_c(where)));
    buf_printf(s->out, "  %s\n", effort_words(f->effort));
    if (place.failed) s->out->failed = true;
    buf_done(&place);
}

/* A way to fix it; `alone` where the finding itself is priced after others. */
static void view_report_put_option(const struct screen *s, const struct finding_option *o,
                                   int widest, bool alone)
{
    static const char more[] = ": a call takes as long as before";
    int used = INDENT + widest + (alone ? 15 : 9) + (int)strlen(effort_words(o->effort)) + 12;
    buf_pad(s->out, ' ', INDENT);
    buf_printf(s->out, "%-*s  %3.0f %%%s  %s", widest, o->what, -o->gain_pct, alone ? " alone" : "",
               effort_words(o->effort));
    if (o->times > 1)
        buf_printf(s->out, ", per sample%s", used + (int)strlen(more) <= s->width ? more : "");
    buf_addc(s->out, '\n');
}

/* The ways to fix it, what gains most first; a gain per sample is another thing and comes last. */
static void view_report_put_options(const struct screen *s, const struct finding *f)
{
    bool done[FINDING_OPTIONS] = {false};
    int widest = 0;
    for (uint32_t i = 0; i < f->n_options; i++) {
        int n = utf8_width(str_c(f->options[i].what));
        if (f->options[i].gain_pct >= answer_worth_pct && n > widest) widest = n;
    }
    for (uint32_t k = 0; k < f->n_options && f->n_options > 1; k++) {
        uint32_t best = FINDING_OPTIONS;
        for (uint32_t i = 0; i < f->n_options; i++) {
            const struct finding_option *o = &f->options[i],
                                        *b = &f->options[best % FINDING_OPTIONS];
            if (done[i]) continue;
            if (best == FINDING_OPTIONS || o->times < b->times ||
                (o->times == b->times && o->gain_pct > b->gain_pct))
                best = i;
        }
        const struct finding_option *o = &f->options[best];
        done[best] = true;
        if (o->gain_pct >= answer_worth_pct)
            view_report_put_option(s, o, widest, finding_differs_alone(f));
    }
}

/* The command that tries the fix, and the one that explains the rule; on one line if they fit. */
static void view_report_put_try(const struct screen *s, const struct finding *f)
{
    struct buf line;
    buf_init(&line);
    if (f->try_command) {
        buf_printf(&line, "     try    %s", f->try_command);
        bool fits = (int)(line.n + strlen(f->rule->id)) + 26 <= s->width;
        buf_adds(&line, fits ? "     why: " : "\n     why    ");
    } else {
        buf_adds(&line, "     why    ");
    }
    buf_printf(&line, "strata explain %s\n", f->rule->id);
    buf_add_str(s->out, buf_str(&line));
    if (line.failed) s->out->failed = true;
    buf_done(&line);
}

/* Cause, fix, ways to fix it, and what to type. */
static void view_report_explain(const struct screen *s, const struct finding *f,
                                const struct view_report_depth *d)
{
    if (d->brief < 2) {
        buf_pad(s->out, ' ', INDENT);
        view_report_put_sentence(s, f->why, d->why);
    }
    buf_adds(s->out, "     fix    ");
    view_report_put_sentence(s, f->fix, d->fix);
    if (d->brief < 1) view_report_put_options(s, f);
    view_report_put_try(s, f);
}

/* What the replay cannot price: the cost stands where the gain would. */
static void view_report_put_cost(const struct screen *s, const struct finding *f, uint32_t number)
{
    char cut[128];
    buf_printf(s->out, "  %-2u %8s  %s", number,
               human_time(f->device_ns ? f->device_ns : f->exposed_ns).s, f->title);
    if (f->subject && f->subject[0])
        buf_printf(s->out, "   %s", human_cut(str_c(f->subject), 40, cut, sizeof cut));
    buf_addc(s->out, '\n');
}

/* Findings for the screen: the first one in full, then a line for each, then the cause and fix of
 * the second while there are lines left. */
struct view_report_list {
    uint32_t listed[VIEW_REPORT_LISTED]; /* places in the findings */
    uint32_t n;                          /* of them, as far as there is room */
    uint32_t shown;                      /* of them on the screen */
    uint32_t left_out;                   /* listed, but no line was left */
};

static void view_report_put_brief(const struct screen *s, const struct context *cx, uint32_t i)
{
    const struct finding *f = findings_of(cx)->items[i];
    if (findings_of(cx)->unpriced) view_report_put_cost(s, f, i + 1);
    else view_report_put_line(s, cx, i);
}

/* The explanation of a finding in at most `lines` lines: whole sentences if it can be, shorter if
 * need be; none where not even that fits. */
static void view_report_explain_in(const struct screen *s, const struct finding *f, int lines,
                                   struct buf *out)
{
    struct screen in = *s;
    in.out = out;
    struct view_report_depth d = {SENTENCE_WHOLE, SENTENCE_WHOLE, 0};
    while (d.brief < 3) {
        buf_reset(out);
        view_report_explain(&in, f, &d);
        if (view_report_lines(out) <= lines) return;
        /* the cause is cut first, then the fix, then whole parts are left out */
        if (--d.why >= SENTENCE_LINES) continue;
        d.why = SENTENCE_WHOLE;
        if (--d.fix >= SENTENCE_LINES) continue;
        d.fix = SENTENCE_WHOLE;
        d.brief++;
    }
    buf_reset(out);
}

static void view_report_pick(const struct context *cx, struct view_report_list *l)
{
    const struct findings *f = findings_of(cx);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!view_report_lists(cx, f->items[i])) continue;
        if (l->n < VIEW_REPORT_LISTED) l->listed[l->n++] = i;
        else l->left_out++;
    }
}

/* "alone 1 gains 6 %, 2 nothing": what findings gain that are counted together. */
static void view_report_put_together(const struct screen *s, const struct context *cx,
                                     const struct view_report_list *l)
{
    const struct findings *f = findings_of(cx);
    uint32_t all = 0, here = 0;
    struct buf text;
    buf_init(&text);
    for (uint32_t i = 0; i < f->n; i++) all += f->items[i]->together;
    for (uint32_t i = 0; i < l->shown; i++) {
        const struct finding *x = f->items[l->listed[i]];
        if (!x->together) continue;
        double alone = x->alone.gain_pct;
        buf_printf(&text, "%s%u gains ", here ? ", " : "", l->listed[i] + 1);
        if (alone < VIEW_REPORT_NOTHING_PCT) buf_adds(&text, "nothing");
        else buf_adds(&text, human_pct(alone).s);
        here++;
    }
    if (here && all > here)
        buf_printf(s->out, "     * with %u other%s fixed too (-v); alone %s\n", all - here,
                   all - here == 1 ? "" : "s", buf_c(&text));
    else if (here) buf_printf(s->out, "     * if all of these are fixed; alone %s\n", buf_c(&text));
    if (text.failed) s->out->failed = true;
    buf_done(&text);
}

/* The first finding gets the lines that the others leave, but never fewer than it needs in short;
 * then each other one gets a line, the second its explanation, and the first what still is left. */
static void view_report_share_lines(const struct screen *s, const struct context *cx,
                                    struct view_report_list *l, struct buf *text, int lines)
{
    struct finding *const *items = findings_of(cx)->items;
    int others = (int)l->n - 1;
    view_report_explain_in(s, items[l->listed[0]], lines - others, &text[0]);
    if (!text[0].n) view_report_explain_in(s, items[l->listed[0]], lines, &text[0]);
    int left = lines - view_report_lines(&text[0]);
    l->shown = 1;
    while (l->shown < l->n && left > 0) l->shown++, left--;
    if (l->shown < 2) return;
    view_report_explain_in(s, items[l->listed[1]], left, &text[1]);
    left -= view_report_lines(&text[1]);
    view_report_explain_in(s, items[l->listed[0]], left + view_report_lines(&text[0]), &text[0]);
}

uint32_t view_report_put_findings(const struct screen *s, const struct context *cx, int lines)
{
    struct view_report_list l = {.n = 0};
    struct buf text[2];
    view_report_pick(cx, &l);
    if (!l.n) return 0;
    for (int i = 0; i < 2; i++) buf_init(&text[i]);
    bool note = false;
    for (uint32_t i = 0; i < l.n; i++) note |= findings_of(cx)->items[l.listed[i]]->together;
    /* a blank line, the line of the first one, a note */
    view_report_share_lines(s, cx, &l, text, lines - 2 - note);
    buf_addc(s->out, '\n');
    for (uint32_t i = 0; i < l.shown; i++) {
        view_report_put_brief(s, cx, l.listed[i]);
        if (i < 2) buf_add_str(s->out, buf_str(&text[i]));
    }
    view_report_put_together(s, cx, &l);
    for (int i = 0; i < 2; i++) {
        if (text[i].failed) s->out->failed = true;
        buf_done(&text[i]);
    }
    return l.n - l.shown + l.left_out;
}
