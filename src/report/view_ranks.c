/* view_ranks.c: see view_ranks.h. */
#include "report/view_ranks.h"

#include "report/ranks_parts.h"

static void put_who(const struct screen *s, const struct rank_set *r)
{
    ranks_who(s->out, r);
    buf_addc(s->out, '\n');
    struct buf line;
    buf_init(&line);
    for (uint32_t i = 0; ranks_doubt(&line, r, i); i++, buf_reset(&line)) {
        buf_printf(s->out, "  !  %s\n", buf_c(&line));
        if (!buf_ok(&line)) s->out->failed = true;
    }
    buf_done(&line);
}

/* A sentence in lines, with the next line indented. */
static void put_wrapped(const struct screen *s, struct buf *line)
{
    if (line->n) {
        buf_adds(s->out, "  ");
        text_wrap(s->out, buf_c(line), 4, s->width);
    }
    if (!buf_ok(line)) s->out->failed = true;
    buf_reset(line);
}

static void put_straggler(const struct screen *s, const struct rank_set *r,
                          const struct rank_straggler *x)
{
    struct buf line;
    buf_init(&line);
    ranks_late(&line, r, x);
    put_wrapped(s, &line);
    buf_done(&line);
}

/* A sentence of its own, with `before` it; nothing where there is none. */
static void put_line(const struct screen *s, const char *before, struct buf *line)
{
    if (line->n) buf_printf(s->out, "%s%s\n", before, buf_c(line));
    if (!buf_ok(line)) s->out->failed = true;
}

static void put_schedule(const struct screen *s, const struct rank_set *r)
{
    struct buf line;
    buf_init(&line);
    ranks_bubbles(&line, r);
    put_wrapped(s, &line);
    ranks_experts(&line, r);
    put_wrapped(s, &line);
    buf_done(&line);
}

static void put_stragglers(const struct screen *s, const struct rank_set *r)
{
    if (!r->n_stragglers && !r->pipeline.ranks && !r->experts.found) {
        text_styled(s->out, TEXT_GREEN, s->color,
                    "  no straggler: no rank keeps the others waiting");
        buf_addc(s->out, '\n');
    }
    for (uint32_t i = 0; i < r->n_stragglers && i < RANKS_STRAGGLERS; i++)
        put_straggler(s, r, &r->stragglers[i]);
    if (r->n_stragglers > RANKS_STRAGGLERS)
        buf_printf(s->out, "  ... and %s more\n",
                   human_count(r->n_stragglers - RANKS_STRAGGLERS).s);
}

void view_ranks_verdict(const struct screen *s, const struct view_ranks *v)
{
    const struct rank_set *r = v->set;
    struct buf line;
    buf_addc(s->out, '\n');
    if (ranks_no_answer(r)) {
        buf_printf(s->out, "  %s\n", ranks_no_answer(r));
        if (r->n > 1 && r->ranks[0].part >= 0)
            buf_adds(s->out, "  (strata run --level timeline records collectives)\n");
        return;
    }
    put_stragglers(s, r);
    put_schedule(s, r);
    buf_init(&line);
    ranks_step(&line, r, v->step_without_ns);
    put_line(s, "  ", &line);
    buf_done(&line);
}

static void put_ranks(const struct screen *s, const struct rank_set *r)
{
    struct text_table table;
    ranks_table(&table, r, s->limit);
    buf_addc(s->out, '\n');
    text_table_print(&table, s->out, 2, s->width, s->color);
    text_table_done(&table);
    screen_more(s, r->n);
}

static void put_collectives(const struct screen *s, const struct rank_set *r)
{
    struct text_table table;
    ranks_collectives(&table, r);
    if (table.failed) s->out->failed = true;
    if (table.n_rows) {
        buf_adds(s->out, "\n  where ranks arrive furthest apart\n");
        text_table_print(&table, s->out, 2, s->width, s->color);
    }
    text_table_done(&table);
}

void view_ranks_text(const struct screen *s, const struct view_ranks *v)
{
    struct buf line;
    put_who(s, v->set);
    view_ranks_verdict(s, v);
    put_ranks(s, v->set);
    put_collectives(s, v->set);
    buf_init(&line);
    ranks_path(&line, v->set);
    put_line(s, "\n  ", &line);
    buf_reset(&line);
    ranks_clocks(&line, v->set);
    put_line(s, "  ", &line);
    buf_done(&line);
    buf_addc(s->out, '\n');
}
