/* view_requests.c: see view_requests.h. */
#include "report/view_requests.h"

#include <stdio.h>

#include "base/human.h"
#include "base/text.h"

#define WORTH_SAYING 4 /* a part holds one part in so many of what the slow ones take longer */

static const char *part_name(const struct stages *s, const struct request_part *p, char *cut,
                             size_t cap)
{
    if (p->stage == STAGE_NONE) return "(in no stage)";
    return human_cut(s->list[p->stage].name, 40, cut, cap);
}

static void put_row(struct text_table *tt, const char *name, int64_t usual_ns, int64_t slow_ns)
{
    text_table_row(tt, TEXT_PLAIN);
    text_table_cell(tt, 0, name);
    text_table_cell(tt, 1, human_time(usual_ns).s);
    text_table_cell(tt, 2, human_time(slow_ns).s);
}

static void put_table(const struct screen *s, const struct stages *st, const struct requests *r)
{
    struct text_table tt;
    char heads[2][48], cut[80], name[90];
    text_table_init(&tt);
    snprintf(heads[0], sizeof heads[0], "%u around the median", r->n_usual);
    snprintf(heads[1], sizeof heads[1], "slowest %u", r->n_slow);
    text_table_col(&tt, "requests, mean", TEXT_LEFT);
    text_table_col(&tt, heads[0], TEXT_RIGHT);
    text_table_col(&tt, heads[1], TEXT_RIGHT);
    put_row(&tt, human_cut(st->list[r->stage].name, 40, cut, sizeof cut), r->usual_ns, r->slow_ns);
    for (uint32_t i = 0; i < r->n_parts; i++) {
        snprintf(name, sizeof name, "  %s", part_name(st, &r->parts[i], cut, sizeof cut));
        put_row(&tt, name, r->parts[i].usual_ns, r->parts[i].slow_ns);
    }
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
}

/* What most of the difference is made of. */
static void put_cause(const struct screen *s, const struct stages *st, const struct requests *r)
{
    char cut[80];
    const struct request_part *p = &r->parts[0];
    int64_t more = r->slow_ns - r->usual_ns, here = p->slow_ns - p->usual_ns;
    if (!r->n_parts || more <= 0 || here * WORTH_SAYING < more) return;
    buf_printf(s->out, "  the slow ones take %s longer, %s of it in %s\n", human_time(more).s,
               human_time(here).s, part_name(st, p, cut, sizeof cut));
}

void view_requests_text(const struct screen *s, const struct context *cx)
{
    const struct requests *r = requests_of(cx);
    const struct stages *st = stages_of(cx);
    char cut[80];
    if (!r->found) return;
    buf_printf(s->out, "\n  %s calls of %s, up to %u at once: median %s, p95 %s, p99 %s\n\n",
               human_count(r->n).s, human_cut(st->list[r->stage].name, 40, cut, sizeof cut),
               r->most_at_once, human_time(r->median_ns).s, human_time(r->p95_ns).s,
               human_time(r->p99_ns).s);
    put_table(s, st, r);
    put_cause(s, st, r);
}

void view_requests_json(struct jout *j, const char *key, const struct context *cx)
{
    const struct requests *r = requests_of(cx);
    const struct stages *st = stages_of(cx);
    jout_obj(j, key);
    jout_str(j, "stage", st->list[r->stage].name);
    jout_int(j, "calls", r->n);
    jout_int(j, "most_at_once", r->most_at_once);
    jout_us(j, "median_us", r->median_ns);
    jout_us(j, "p95_us", r->p95_ns);
    jout_us(j, "p99_us", r->p99_ns);
    jout_us(j, "usual_us", r->usual_ns);
    jout_us(j, "slow_us", r->slow_ns);
    jout_arr(j, "parts");
    for (uint32_t i = 0; i < r->n_parts; i++) {
        const struct request_part *p = &r->parts[i];
        jout_obj(j, NULL);
        if (p->stage == STAGE_NONE) jout_null(j, "stage");
        else jout_str(j, "stage", st->list[p->stage].name);
        jout_us(j, "usual_us", p->usual_ns);
        jout_us(j, "slow_us", p->slow_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}
