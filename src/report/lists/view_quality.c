/* view_quality.c: see views_file.h. */
#include "report/lists/views_file.h"

#include <stdio.h>

#include "results/result_json.h"
#include "results/results.h"

void view_quality_line(const struct screen *s, const struct integrity *i)
{
    static const enum text_style styles[] = {TEXT_PLAIN, TEXT_PLAIN, TEXT_YELLOW, TEXT_RED};
    const struct recording_cost *r = &i->recording;
    buf_adds(s->out, "trace quality: ");
    text_styled(s->out, styles[i->quality], s->color, quality_name(i->quality));
    if (r->pct >= 1 && r->pct < 1000) {
        const char *between = " (recorded with ";
        for (int k = 0; k < N_RECORDED; k++) {
            if (!(r->flags & recorded_words[k].flag)) continue;
            buf_printf(s->out, "%s%s", between, recorded_words[k].name);
            between = ", ";
        }
        buf_printf(s->out, "%s about %s)",
                   r->flags ? ": the CPU side took" : " (recording made the CPU side take",
                   human_longer(r->pct).s);
    }
    buf_addc(s->out, '\n');
}

static void view_quality_wrap(const struct screen *s, const char *text, int indent)
{
    buf_pad(s->out, ' ', indent);
    text_wrap(s->out, text, indent, s->width);
}

void view_quality_problem(const struct screen *s, const struct problem *p)
{
    char label[32];
    snprintf(label, sizeof label, "%s: ", p->level ? quality_name(p->level) : "note");
    buf_adds(s->out, "  ");
    text_styled(s->out, p->level >= QUALITY_DOUBTFUL ? TEXT_RED : TEXT_YELLOW, s->color, label);
    text_wrap(s->out, p->what, 4, s->width);
    view_quality_wrap(s, p->means, 4);
    if (p->instead[0]) view_quality_wrap(s, p->instead, 4);
}

void view_quality_text(const struct screen *s, const struct integrity *i, enum quality least)
{
    view_quality_line(s, i);
    for (uint32_t k = 0; k < i->n_problems; k++)
        if (i->problems[k].level >= least) view_quality_problem(s, &i->problems[k]);
}

void view_quality_warn(const struct screen *s, const struct integrity *i)
{
    if (i->quality == QUALITY_GOOD) return;
    view_quality_text(s, i, QUALITY_USABLE);
    buf_addc(s->out, '\n');
}

void view_quality_json(struct jout *j, const char *key, const struct trace *t,
                       const struct integrity *i)
{
    struct context of = {.t = t}; /* the fields need no pass */
    struct rows r = {.of = &result_quality, .cx = &of, .list = i, .n = 1};
    result_json_row(j, key, &r, 0);
}
