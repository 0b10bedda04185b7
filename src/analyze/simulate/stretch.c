/* stretch.c: a stretch of a thread and what other threads do for it: while it waits for another one
 * (backward() for autograd's thread), what that one does is part of it. */
#include "analyze/simulate/edits.h"
#include "analyze/simulate/simulate_private.h"
#include "base/search.h"

struct stretch stretch_of(const struct sim_model *m, const struct sim_cut *at)
{
    uint32_t first = sim_join_after(m, at->thread, at->begin_ns);
    uint32_t end = first;
    SEARCH_PAST(end, m->threads[at->thread].end_join, m->joins[end].end_ns <= at->end_ns);
    return (struct stretch){at->thread, at->begin_ns, at->end_ns, first, end};
}

struct stretch_walk stretch_walk_of(const struct sim_model *m, const struct stretch *s)
{
    uint32_t own = sim_thread_call_at(m, s->thread, s->begin_ns);
    return (struct stretch_walk){m, s, own, SIM_NONE, INT64_MIN, s->first_join};
}

/* The next wait begins: from now on `other` is what its thread does meanwhile. */
static void stretch_enter_wait(struct stretch_walk *w)
{
    const struct sim_join *j = &w->m->joins[w->join++];
    int64_t from = j->begin_ns > w->s->begin_ns ? j->begin_ns : w->s->begin_ns;
    w->other = j->other == SIM_NONE ? SIM_NONE : sim_thread_call_at(w->m, j->other, from);
    w->done_ns = j->done_ns;
}

uint32_t stretch_next(struct stretch_walk *w)
{
    const struct sim_call *calls = w->m->calls;
    for (;;) {
        uint32_t c = w->other;
        if (c != SIM_NONE && calls[c].begin_ns < w->done_ns) {
            w->other = calls[c].next;
            return c;
        }
        w->other = SIM_NONE;
        c = w->own != SIM_NONE && calls[w->own].begin_ns < w->s->end_ns ? w->own : SIM_NONE;
        bool waits = w->join < w->s->end_join;
        if (waits && (c == SIM_NONE || w->m->joins[w->join].begin_ns <= calls[c].begin_ns)) {
            stretch_enter_wait(w);
            continue;
        }
        if (c != SIM_NONE) w->own = calls[c].next;
        return c;
    }
}

static int cut_one(struct plan_build *b, struct sim_cut c, bool around)
{
    return around ? plan_cut_around_calls(b, c) : plan_cut(b, c);
}

int stretch_cut(struct plan_build *b, const struct stretch *s, struct sim_cut part, bool around)
{
    part.thread = s->thread;
    TRY(cut_one(b, part, around));
    uint32_t i = s->first_join;
    SEARCH_PAST(i, s->end_join, b->m->joins[i].end_ns <= part.begin_ns);
    for (; i < s->end_join; i++) {
        const struct sim_join *j = &b->m->joins[i];
        struct sim_cut other = part;
        if (j->begin_ns >= part.end_ns) break;
        if (j->other == SIM_NONE) continue;
        other.thread = j->other;
        if (j->begin_ns > other.begin_ns) other.begin_ns = j->begin_ns;
        if (j->done_ns < other.end_ns) other.end_ns = j->done_ns;
        TRY(cut_one(b, other, around));
    }
    return 0;
}
