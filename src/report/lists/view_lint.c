/* view_lint.c: see views_file.h. */
#include "report/lists/views_file.h"

#include <inttypes.h>

#include "analyze/quality/integrity.h"
#include "base/human.h"
#include "report/cells.h"
#include "report/report_private.h"
#include "results/result_json.h"
#include "results/results.h"

#define PLACES_SHOWN 8

/* "  warning: truncated   1" */
static void view_lint_head(const struct screen *s, enum damage_reason r, uint64_t count)
{
    bool loses = damage_loses(r);
    buf_adds(s->out, "  ");
    text_styled(s->out, loses ? TEXT_YELLOW : TEXT_DIM, s->color, loses ? "warning" : "note   ");
    buf_printf(s->out, "  %s   %s", damage_name(r), human_count(count).s);
}

static void print_places(const struct screen *s, const struct damage *d, enum damage_reason r)
{
    uint64_t kept = d->count[r] < DAMAGE_PLACES ? d->count[r] : DAMAGE_PLACES;
    buf_adds(s->out, "           at byte ");
    for (uint64_t i = 0; i < kept && i < PLACES_SHOWN; i++)
        buf_printf(s->out, "%s%s", i ? "  " : "", human_count(d->place[r][i]).s);
    if (d->count[r] > PLACES_SHOWN) buf_adds(s->out, "  ...");
    buf_addc(s->out, '\n');
}

static void view_lint_print_damage(const struct screen *s, const struct trace *t)
{
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (!t->damage.count[r]) continue;
        enum damage_reason reason = (enum damage_reason)r;
        view_lint_head(s, reason, t->damage.count[r]);
        buf_printf(s->out, "\n           %s\n", damage_text(reason));
        print_places(s, &t->damage, reason);
    }
}

static void view_lint_example(const struct screen *s, const struct trace *t,
                              const struct problem *p)
{
    if (!p->n_examples) return;
    row_t row = p->examples[0];
    buf_printf(s->out, "    first: %s at %s", cell_text(trace_name(t, row), 50).s,
               t->begin_ns == ID_NONE ? "?" : human_time(trace_since_ns(t, t->ts_ns[row])).s);
    buf_printf(s->out, ", byte %s (%s)\n", human_count(t->src[row]).s, p->kind->id);
}

void view_lint_text(const struct screen *s, const struct context *cx)
{
    const struct integrity *q = integrity_of(cx);
    uint64_t n = damage_total(&cx->t->damage) + q->n_problems;
    view_lint_print_damage(s, cx->t);
    for (uint32_t i = 0; i < q->n_problems; i++) {
        view_quality_problem(s, &q->problems[i]);
        view_lint_example(s, cx->t, &q->problems[i]);
    }
    if (!n)
        buf_adds(s->out, "  no problems: the file is complete and the recording is consistent\n");
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"info %s", "what is in the file"},
        {"report %s", "what is slow and why"},
    };
    screen_next(s, next, 2);
}

/* ---- JSON */

/* clang-format off */
static const struct field lint_fields[] = {
    FIELD_IN(LIST, "damage", "", &result_damage, rows_in_damage, "what is damaged in the file"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_lint =
    RESULT("lint", "what is wrong with a recording", lint_fields, struct integrity);

void view_lint_json(struct jout *j, const struct context *cx)
{
    document_json(j, NULL, cx, &document_lint, integrity_of(cx), NULL);
}
