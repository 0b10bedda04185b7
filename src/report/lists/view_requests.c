/* view_requests.c: see views_time.h. */
#include "report/lists/views_time.h"

#include <stdio.h>

#include "base/human.h"
#include "base/text.h"
#include "report/report_private.h"

#define WORTH_SAYING 4 /* a part holds one part in so many of what the slow ones take longer */

static const char *part_name(const struct stages *s, const struct request_part *p, char *cut,
                             size_t cap)
{
    if (p->stage == STAGE_NONE) return "(in no stage)";
    return human_cut(s->list[p->stage].name, 40, cut, cap);
}

static void view_requests_put_row(struct text_table *tt, const char *name, int64_t usual_ns,
                                  int64_t slow_ns)
{
    text_table_row(tt, TEXT_PLAIN);
    text_table_cell(tt, 0, name);
    text_table_cell(tt, 1, human_time(usual_ns).s);
    text_table_cell(tt, 2, human_time(slow_ns).s);
}

static void view_requests_put_table(const struct screen *s, const struct stages *st,
                                    const struct requests *r)
{
    struct text_table tt;
    char heads[2][48], cut[80], name[90];
    text_table_init(&tt);
    snprintf(heads[0], sizeof heads[0], "%u around the median", r->n_usual);
    snprintf(heads[1], sizeof heads[1], "slowest %u", r->n_slow);
    text_table_col(&tt, "requests, mean", TEXT_LEFT);
    text_table_col(&tt, heads[0], TEXT_RIGHT);
    text_table_col(&tt, heads[1], TEXT_RIGHT);
    view_requests_put_row(&tt, human_cut(st->list[r->stage].name, 40, cut, sizeof cut), r->usual_ns,
                          r->slow_ns);
    for (uint32_t i = 0; i < r->n_parts; i++) {
        snprintf(name, sizeof name, "  %s", part_name(st, &r->parts[i], cut, sizeof cut));
        view_requests_put_row(&tt, name, r->parts[i].usual_ns, r->parts[i].slow_ns);
    }
    screen_table(s, &tt);
    text_table_done(&tt);
}

/* What most of the difference is made of. */
static void view_requests_put_cause(const struct screen *s, const struct stages *st,
                                    const struct requests *r)
{
    char cut[80];
    const struct request_part *p = &r->parts[0];
    int64_t more = r->slow_ns - r->usual_ns, here = p->slow_ns - p->usual_ns;
    if (!r->n_parts || more <= 0 || here * WORTH_SAYING < more) return;
    buf_printf(s->out, "  the slow ones take %s longer, %s of it in %s\n", human_time(more).s,
               human_time(here).s, part_name(st, p, cut, sizeof cut));
}

static void view_requests_put_spread(const struct screen *s, const struct stages *st,
                                     const struct requests *r)
{
    char cut[80];
    buf_printf(s->out, "\n  %s calls of %s, up to %u at once: median %s, p95 %s, p99 %s\n",
               human_count(r->n).s, human_cut(st->list[r->stage].name, 40, cut, sizeof cut),
               r->most_at_once, human_time(r->median_ns).s, human_time(r->p95_ns).s,
               human_time(r->p99_ns).s);
}

void view_requests_brief(const struct screen *s, const struct context *cx)
{
    const struct requests *r = requests_of(cx);
    if (!r->found) return;
    view_requests_put_spread(s, stages_of(cx), r);
    view_requests_put_cause(s, stages_of(cx), r);
}

void view_requests_text(const struct screen *s, const struct context *cx)
{
    const struct requests *r = requests_of(cx);
    if (!r->found) return;
    view_requests_put_spread(s, stages_of(cx), r);
    buf_addc(s->out, '\n');
    view_requests_put_table(s, stages_of(cx), r);
    view_requests_put_cause(s, stages_of(cx), r);
}

static struct value request_stage(const struct rows *r, uint32_t stage)
{
    return stage == STAGE_NONE ? value_none() : value_text(stages_of(r->cx)->list[stage].name);
}

VALUE_OF(request_part_stage, request_stage(r, ((const struct request_part *)rows_at(r, i))->stage))
VALUE_OF(requests_stage, request_stage(r, requests_of(r->cx)->stage))
ROWS_OF(requests_parts, .list = requests_of(r->cx)->parts, .n = requests_of(r->cx)->n_parts)

/* clang-format off */
static const struct field part_fields[] = {
    FIELD_GET(TEXT, "stage", "", request_part_stage, "a stage directly inside the request; null: in none of them", .null = NULL_SOMETIMES),
    FIELD(NS, "usual_us", "", struct request_part, usual_ns, "mean time in it of requests around the median"),
    FIELD(NS, "slow_us", "", struct request_part, slow_ns, "of the slowest ones"),
};
static const struct result result_parts = RESULT("parts", "what requests consist of", part_fields, struct request_part);

static const struct field requests_fields[] = {
    FIELD_GET(TEXT, "stage", "", requests_stage, "the outermost stage, whose calls are the requests"),
    FIELD(COUNT, "calls", "", struct requests, n, "how many"),
    FIELD(COUNT, "most_at_once", "", struct requests, most_at_once, "most that ran at once"),
    FIELD(NS, "median_us", "", struct requests, median_ns, "how long one takes, median"),
    FIELD(NS, "p95_us", "", struct requests, p95_ns, "95th percentile"),
    FIELD(NS, "p99_us", "", struct requests, p99_ns, "99th percentile"),
    FIELD(NS, "usual_us", "", struct requests, usual_ns, "mean of those around the median"),
    FIELD(NS, "slow_us", "", struct requests, slow_ns, "mean of the slowest 5 %"),
    FIELD_IN(LIST, "parts", "", &result_parts, requests_parts, "what they consist of, by how much longer the slow ones take"),
};
/* clang-format on */

const struct result result_requests =
    RESULT("requests", "slow requests and the usual ones", requests_fields, struct requests);

struct rows rows_in_requests(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = requests_of(r->cx), .n = requests_of(r->cx)->found};
}
