/* stretch.c: a stretch of a thread and what other threads do for it: while it waits for another one
 * (backward() for autograd's thread), what that one does is part of it. */
#include "analyze/simulate/edits.h"
#include "analyze/simulate/simulate_private.h"
#include "base/search.h"

struct stretch stretch_of(const struct sim_model *m, const struct sim_cut *at)
{
    uint32_t first = 0;
    SEARCH_PAST(first, m->n_joins, m->joins[first].end_ns <= at->begin_ns);
    uint32_t end = first;
    while (end < m->n_joins && m->joins[end].end_ns <= at->end_ns) end++;
    return (struct stretch){at->thread, at->begin_ns, at->end_ns, first, end};
}

/* The first wait of the stretch's own thread from `i` on; end_join when there is none. */
static uint32_t next_join(const struct sim_model *m, const struct stretch *s, uint32_t i)
{
    while (i < s->end_join && m->joins[i].thread != s->thread) i++;
    return i;
}

/* The first that ends after a moment. Waits of one thread lie apart, so only this one can hold it.
 */
static uint32_t join_after(const struct sim_model *m, const struct stretch *s, int64_t at_ns)
{
    uint32_t i = s->first_join;
    SEARCH_PAST(i, s->end_join, m->joins[i].end_ns <= at_ns);
    return next_join(m, s, i);
}

bool stretch_holds(const struct sim_model *m, const struct stretch *s, uint32_t call)
{
    const struct sim_call *c = &m->calls[call];
    if (c->thread == s->thread) return true;
    uint32_t i = join_after(m, s, c->begin_ns);
    return i < s->end_join && m->joins[i].other == c->thread &&
           c->begin_ns >= m->joins[i].begin_ns && c->begin_ns < m->joins[i].done_ns;
}

static int cut_one(struct plan_build *b, struct sim_cut c, bool around)
{
    return around ? plan_cut_around_calls(b, c) : plan_cut(b, c);
}

int stretch_cut(struct plan_build *b, const struct stretch *s, struct sim_cut part, bool around)
{
    part.thread = s->thread;
    TRY(cut_one(b, part, around));
    uint32_t i = join_after(b->m, s, part.begin_ns);
    for (; i < s->end_join; i = next_join(b->m, s, i + 1)) {
        const struct sim_join *j = &b->m->joins[i];
        struct sim_cut other = part;
        if (j->begin_ns >= part.end_ns) break;
        other.thread = j->other;
        if (j->begin_ns > other.begin_ns) other.begin_ns = j->begin_ns;
        if (j->done_ns < other.end_ns) other.end_ns = j->done_ns;
        TRY(cut_one(b, other, around));
    }
    return 0;
}
