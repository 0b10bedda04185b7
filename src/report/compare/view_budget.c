/* view_budget.c: see views_compare.h. A limit that cannot be checked in this trace counts as
 * broken: a gate that passes because nothing was recorded is useless. */
#include "report/compare/views_compare.h"

#include <math.h>

#include "report/lists/views_file.h"
#include "results/result_json.h"
#include "results/results.h"

static const char *view_budget_word(const struct budget_line *l)
{
    return !l->known ? "unknown" : l->broken ? "FAIL" : "ok";
}

static void say_untrusted(const struct screen *s)
{
    buf_adds(s->out,
             "\nno limit was checked, because the trace cannot be trusted; --allow-untrusted "
             "checks them anyway\n\n");
    static const struct screen_next next[] = {
        {"info %s --lint", "what is missing or damaged, and where"}};
    screen_next(s, next, 1);
}

static void budget_cell(struct text_table *t, int col, double value)
{
    if (!isfinite(value)) text_table_cell(t, col, "-");
    else if (fabs(value) < 1e4) text_table_cellf(t, col, "%.4g", value);
    else text_table_cellf(t, col, "%.0f", value);
}

void view_budget_text(const struct screen *s, const struct budget *b, const struct context *cx)
{
    struct text_table t;
    bool relative = budget_relative(b) != NULL;
    if (integrity_of(cx)->quality >= QUALITY_DOUBTFUL) view_quality_warn(s, integrity_of(cx));
    text_table_init(&t);
    text_table_col(&t, "limit", TEXT_LEFT);
    text_table_col(&t, "measured", TEXT_RIGHT);
    text_table_col(&t, "verdict", TEXT_LEFT);
    if (relative) text_table_col(&t, "baseline", TEXT_RIGHT);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct budget_line *l = &b->lines[i];
        text_table_row(&t, l->broken ? TEXT_RED : !l->known ? TEXT_YELLOW : TEXT_PLAIN);
        text_table_cell(&t, 0, l->text);
        budget_cell(&t, 1, l->value);
        if (relative) budget_cell(&t, 3, l->share > 0 ? l->base : NAN);
        text_table_cellf(&t, 2, "%s%s", view_budget_word(l),
                         l->known || b->untrusted ? ""
                         : isfinite(l->value)     ? ": not in the baseline"
                                                  : ": not in this trace");
    }
    screen_table(s, &t);
    text_table_done(&t);
    if (b->untrusted) {
        say_untrusted(s);
        return;
    }
    buf_printf(s->out, "\n%u of %u limits kept", b->n - b->n_broken - b->n_unknown, b->n);
    if (b->n_broken) buf_printf(s->out, ", %u failed", b->n_broken);
    if (b->n_unknown) buf_printf(s->out, ", %u cannot be measured here", b->n_unknown);
    buf_addc(s->out, '\n');
    if (b->n_broken) {
        static const struct screen_next next[] = {{"report %s", "why, and what to do about it"}};
        buf_addc(s->out, '\n');
        screen_next(s, next, 1);
    }
}

static const struct budget *budget_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct budget_line *budget_line_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(budget_value,
         budget_line_at(r, i)->known ? value_num(budget_line_at(r, i)->value) : value_none())
VALUE_OF(budget_base, budget_line_at(r, i)->share > 0 && isfinite(budget_line_at(r, i)->base)
                          ? value_num(budget_line_at(r, i)->base)
                          : value_none())
VALUE_OF(budget_verdict, value_cstr(!budget_line_at(r, i)->known   ? "unknown"
                                    : budget_line_at(r, i)->broken ? "failed"
                                                                   : "ok"))
VALUE_OF(budget_ok, value_int(!budget_at(r, i)->untrusted &&
                              budget_at(r, i)->n_broken + budget_at(r, i)->n_unknown == 0))
VALUE_OF(budget_trusted, value_int(!budget_at(r, i)->untrusted))
ROWS_OF(budget_lines, .list = budget_at(r, i)->lines, .n = budget_at(r, i)->n)

/* clang-format off */
static const struct field line_fields[] = {
    FIELD(INT, "line", "", struct budget_line, number, "its line in the budget"),
    FIELD(TEXT, "limit", "", struct budget_line, text, "as written there"),
    FIELD_GET(NUM, "value", "", budget_value, "what was measured; null if it is not known", .decimals = 6),
    FIELD_GET(NUM, "baseline", "", budget_base, "what the baseline has, for a limit that is a share of it", .decimals = 6, .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "verdict", "", budget_verdict, "`ok`, `failed`, `unknown`"),
};
static const struct result result_limits = RESULT("limits", "limits of the budget", line_fields, struct budget_line);

static const struct field budget_fields[] = {
    FIELD_GET(FLAG, "ok", "", budget_ok, "every limit is kept"),
    FIELD_GET(FLAG, "trusted", "", budget_trusted, "the trace is good enough to be checked; otherwise every limit is `unknown`, and the exit status is 3"),
    FIELD(COUNT, "failed", "", struct budget, n_broken, "limits that are not kept"),
    FIELD(COUNT, "unknown", "", struct budget, n_unknown, "limits that this trace does not show"),
    FIELD_IN(LIST, "limits", "", &result_limits, budget_lines, "one per limit"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_check =
    RESULT("check", "whether a trace keeps a budget", budget_fields, struct budget);

void view_budget_json(struct jout *j, const struct budget *b, const struct context *cx)
{
    document_json(j, NULL, cx, &document_check, b, NULL);
}
