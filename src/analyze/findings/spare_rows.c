/* spare_rows.c: see spare_rows.h. */
#include "analyze/findings/spare_rows.h"

#include "analyze/recorded/process_settings.h"

void spare_search_drop(struct spare_search *x)
{
    x->spare.fix.n = x->spare.n_spans = 0;
}

static int spare_rows_report(struct spare_search *x, const struct rule *rule,
                             const struct spare_row *row, struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(x->cx, out, rule, e);
    if (!f) return ERR_NOMEM;
    TRY(spare_into(&x->spare, x->cx, f, e));
    f->title = row->title;
    if (row->subject) f->subject = row->subject;
    f->why = x->why;
    f->fix = row->fix;
    f->not_fixed = row->not_fixed;
    f->tries = row->tries;
    f->doubt = x->doubt;
    f->effort = row->effort;
    f->show = row->show;
    return 0;
}

/* Whether the recording says that the row cannot be: it knows what is set, and all of this is off.
 */
static bool spare_rows_is_off(const struct context *cx, const struct spare_row *row)
{
    const struct process_settings *s = process_settings_of(cx);
    if (!s->n || !row->off[0]) return false;
    for (size_t i = 0; i < sizeof row->off / sizeof *row->off && row->off[i]; i++)
        if (process_settings_on(s, row->off[i])) return false;
    return true;
}

int spare_rows_run(const struct context *cx, const struct rule *rule, const struct spare_row *rows,
                   size_t n, struct findings *out, struct err *e)
{
    struct work_words words;
    int rc = work_words_init(&words, cx, e);
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct spare_search x = {cx, &words, {.fix = {.others = out}}, NULL, 0};
        if (spare_rows_is_off(cx, &rows[i])) continue;
        rc = rows[i].find(&x, e);
        if (rc == 0 && spare_pays(&x.spare, cx)) rc = spare_rows_report(&x, rule, &rows[i], out, e);
        spare_done(&x.spare);
    }
    return rc;
}
