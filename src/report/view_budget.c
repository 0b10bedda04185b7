/* view_budget.c: see view_budget.h. A limit that cannot be checked in this trace counts as broken:
 * a gate that passes because nothing was recorded is useless. */
#include "report/view_budget.h"

#include "base/jout.h"
#include "report/view_quality.h"

static const char *word(const struct budget_line *l)
{
    return !l->known ? "unknown" : l->broken ? "over" : "ok";
}

static void say_untrusted(const struct screen *s)
{
    buf_adds(s->out,
             "\nno limit was checked, because the trace cannot be trusted; --allow-untrusted "
             "checks them anyway\n\n");
    static const struct screen_next next[] = {{"lint %s", "what is missing or damaged, and where"}};
    screen_next(s, next, 1);
}

void view_budget_text(const struct screen *s, const struct budget *b, const struct context *cx)
{
    struct text_table t;
    if (integrity_of(cx)->quality >= QUALITY_DOUBTFUL) view_quality_warn(s, integrity_of(cx));
    text_table_init(&t);
    text_table_col(&t, "limit", TEXT_LEFT);
    text_table_col(&t, "measured", TEXT_RIGHT);
    text_table_col(&t, "verdict", TEXT_LEFT);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct budget_line *l = &b->lines[i];
        text_table_row(&t, l->broken ? TEXT_RED : !l->known ? TEXT_YELLOW : TEXT_PLAIN);
        text_table_cell(&t, 0, l->text);
        if (l->known) text_table_cellf(&t, 1, "%.4g", l->value);
        else text_table_cell(&t, 1, "-");
        text_table_cellf(&t, 2, "%s%s", word(l),
                         l->known || b->untrusted ? "" : ": not in this trace");
    }
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
    if (b->untrusted) {
        say_untrusted(s);
        return;
    }
    buf_printf(s->out, "\n%u of %u limits kept", b->n - b->n_broken - b->n_unknown, b->n);
    if (b->n_broken) buf_printf(s->out, ", %u over", b->n_broken);
    if (b->n_unknown) buf_printf(s->out, ", %u cannot be measured here", b->n_unknown);
    buf_addc(s->out, '\n');
    if (b->n_broken) {
        static const struct screen_next next[] = {{"report %s", "why, and what to do about it"}};
        buf_addc(s->out, '\n');
        screen_next(s, next, 1);
    }
}

void view_budget_json(struct buf *out, const struct budget *b, const struct context *cx)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_bool(&j, "ok", !b->untrusted && b->n_broken + b->n_unknown == 0);
    jout_bool(&j, "trusted", !b->untrusted);
    jout_uint(&j, "over", b->n_broken);
    jout_uint(&j, "unknown", b->n_unknown);
    jout_arr(&j, "limits");
    for (uint32_t i = 0; i < b->n; i++) {
        const struct budget_line *l = &b->lines[i];
        jout_obj(&j, NULL);
        jout_int(&j, "line", l->number);
        jout_cstr(&j, "limit", l->text);
        if (l->known) jout_num(&j, "value", l->value, 6);
        else jout_null(&j, "value");
        jout_cstr(&j, "verdict", word(l));
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    view_quality_json(&j, "trace_quality", cx->t, integrity_of(cx));
    jout_end_obj(&j);
}
