/* rank_host.c: a rank whose collectives are the work of CPU threads: annotations of the library on
 * threads of its own ("gloo:all_reduce"). */
#include <stdlib.h>

#include "analyze/comm/host_messages.h"
#include "analyze/ranks/rank_summary.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/steps/steps.h"
#include "base/mem.h"
#include "base/vec.h"

struct span_list {
    struct span *list;
    size_t n, cap;
};

static int rank_host_by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int64_t union_ns(struct span_list *s)
{
    int64_t total = 0, covered = INT64_MIN;
    if (s->n) qsort(s->list, s->n, sizeof *s->list, rank_host_by_begin);
    for (size_t i = 0; i < s->n; i++) total += span_uncovered(&covered, s->list[i]);
    return total;
}

static int rank_host_add_span(struct span_list *s, struct span x)
{
    if (VEC_RESERVE(s->list, s->n, s->cap, 1)) return ERR_NOMEM;
    s->list[s->n++] = x;
    return 0;
}

/* ---- collectives */

static int list_events(const struct context *cx, struct arena *mem, struct rank_summary *s)
{
    const struct trace *t = cx->t;
    const struct host_messages *m = host_messages_of(cx);
    s->events = arena_zalloc(mem, (size_t)m->n + 1, sizeof *s->events);
    if (!s->events) return ERR_NOMEM;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct host_message *x = &m->list[i];
        int64_t begin = t->base_ns + t->ts_ns[x->row];
        s->events[s->n_events++] =
            (struct rank_event){.begin_ns = begin,
                                .end_ns = begin + t->dur_ns[x->row],
                                .work = x->row,
                                .what = (uint32_t)x->what & 63,
                                .group = x->group & RANK_GROUPS,
                                .bytes = x->bytes,
                                .exposed_ns = (float)t->dur_ns[x->row],
                                .seq = x->seq < 0 ? -1 : (int32_t)(x->seq & INT32_MAX)};
    }
    return 0;
}

/* ---- times: operators are compute, or the work of a device; collectives without any beside them
 * are exposed */

/* `x` without what lies outside of `window`. */
static struct span rank_host_inside(struct span x, struct span window)
{
    if (x.begin_ns < window.begin_ns) x.begin_ns = window.begin_ns;
    if (x.end_ns > window.end_ns) x.end_ns = window.end_ns;
    return x;
}

static int collect_spans(const struct trace *t, struct span window, struct span_list *ops,
                         struct span_list *both, struct span_list *comm)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        bool talks = host_message_is(t, r);
        bool computes = t->n_devices ? trace_is_work(t, r) : t->kind[r] == KIND_OP;
        if (!talks && (!computes || t->dur_ns[r] <= 0)) continue;
        struct span x = rank_host_inside(trace_span(t, r), window);
        if (x.end_ns < x.begin_ns) continue;
        TRY(rank_host_add_span(talks ? comm : ops, x));
        TRY(rank_host_add_span(both, x));
    }
    return 0;
}

static int rank_host_measure(const struct trace *t, struct span window, struct rank_summary *s)
{
    struct span_list ops = {0}, both = {0}, comm = {0};
    int rc = collect_spans(t, window, &ops, &both, &comm);
    if (rc == 0) {
        int64_t all = union_ns(&both);
        s->compute_ns = union_ns(&ops);
        s->comm_ns = union_ns(&comm);
        s->exposed_ns = all - s->compute_ns;
        s->idle_ns = s->wall_ns - all;
    }
    mem_free(ops.list);
    mem_free(both.list);
    mem_free(comm.list);
    return rc;
}

/* Steps that are calls of a module end before the collectives of the last one's gradients. */
static struct span rank_host_window(const struct rank_reader *in)
{
    const struct host_messages *m = host_messages_of(in->cx);
    struct span w = rank_window(in);
    for (uint32_t i = 0; i < m->n && in->from_ns != INT64_MIN; i++) {
        int64_t end = trace_end_ns(in->cx->t, m->list[i].row);
        if (end > w.end_ns) w.end_ns = end;
    }
    return w;
}

int rank_host_run(const struct rank_reader *in, struct rank_summary *s)
{
    const struct steps *st = steps_of(in->cx);
    s->host_only = true;
    const struct host_messages *m = host_messages_of(in->cx);
    TRY(rank_groups(in, m->groups, m->n_groups, s));
    TRY(list_events(in->cx, &in->store->mem, s));
    struct span window = rank_host_window(in);
    s->wall_ns = span_ns(window);
    TRY(rank_host_measure(in->cx->t, window, s));
    s->n_steps = st->n_steps;
    s->step_ns = st->n_steps ? span_ns(st->loop) / st->n_steps : s->wall_ns;
    return 0;
}
