/* view_ranks.c: see view_ranks.h. */
#include "report/ranks/view_ranks.h"

#include "report/ranks/ranks_parts.h"

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
static void view_ranks_put_wrapped(const struct screen *s, struct buf *line)
{
    if (line->n) {
        buf_adds(s->out, "  ");
        text_wrap(s->out, buf_c(line), 4, s->width);
    }
    if (!buf_ok(line)) s->out->failed = true;
    buf_reset(line);
}

/* A sentence of its own, with `before` it; nothing where there is none. */
static void view_ranks_put_line(const struct screen *s, const char *before, struct buf *line)
{
    if (line->n) buf_printf(s->out, "%s%s\n", before, buf_c(line));
    if (!buf_ok(line)) s->out->failed = true;
}

static void put_schedule(const struct screen *s, const struct rank_set *r)
{
    struct buf line;
    buf_init(&line);
    ranks_bubbles(&line, r);
    view_ranks_put_wrapped(s, &line);
    ranks_experts(&line, r);
    view_ranks_put_wrapped(s, &line);
    buf_done(&line);
}

/* The result, then what each late rank adds to it. */
static void put_stragglers(const struct screen *s, const struct view_ranks *v)
{
    const struct rank_set *r = v->set;
    struct buf line, wrapped;
    buf_init(&line);
    buf_init(&wrapped);
    ranks_headline(&line, r);
    if (line.n) {
        text_wrap(&wrapped, buf_c(&line), 2, s->width);
        buf_adds(s->out, "  ");
        text_styled(s->out, r->n_stragglers ? TEXT_YELLOW : TEXT_GREEN, s->color, buf_c(&wrapped));
    }
    if (!buf_ok(&line) || !buf_ok(&wrapped)) s->out->failed = true;
    buf_reset(&line);
    ranks_gain(&line, r, v->step_without_ns);
    view_ranks_put_wrapped(s, &line);
    for (uint32_t i = 0; ranks_late(&line, r, i); i++) view_ranks_put_wrapped(s, &line);
    if (r->n_stragglers > RANKS_STRAGGLERS)
        buf_printf(s->out, "  ... and %s more\n",
                   human_count(r->n_stragglers - RANKS_STRAGGLERS).s);
    buf_done(&line);
    buf_done(&wrapped);
}

void view_ranks_verdict(const struct screen *s, const struct view_ranks *v)
{
    const struct rank_set *r = v->set;
    buf_addc(s->out, '\n');
    if (ranks_no_answer(r)) {
        buf_printf(s->out, "  %s\n", ranks_no_answer(r));
        if (r->n > 1 && r->ranks[0].part >= 0)
            buf_adds(s->out, "  (strata run --level timeline records collectives)\n");
        return;
    }
    put_stragglers(s, v);
    put_schedule(s, r);
}

static void put_ranks(const struct screen *s, const struct rank_set *r)
{
    struct text_table table;
    ranks_table(&table, r, s->limit);
    buf_addc(s->out, '\n');
    screen_table(s, &table);
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
        screen_table(s, &table);
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
    view_ranks_put_line(s, "\n  ", &line);
    buf_reset(&line);
    ranks_clocks(&line, v->set);
    view_ranks_put_line(s, "  ", &line);
    buf_done(&line);
    buf_addc(s->out, '\n');
}
