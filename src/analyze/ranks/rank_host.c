/* rank_host.c: a rank without a device. Collectives are annotations of the library on threads of
 * its own ("gloo:all_reduce"). */
#include <stdlib.h>

#include "analyze/ranks/rank_summary.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/steps/steps.h"
#include "base/mem.h"
#include "base/vec.h"

struct span_list {
    struct span *list;
    size_t n, cap;
};

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int64_t union_ns(struct span_list *s)
{
    int64_t total = 0, covered = INT64_MIN;
    if (s->n) qsort(s->list, s->n, sizeof *s->list, by_begin);
    for (size_t i = 0; i < s->n; i++) total += span_uncovered(&covered, s->list[i]);
    return total;
}

static int add_span(struct span_list *s, struct span x)
{
    if (VEC_RESERVE(s->list, s->n, s->cap, 1)) return ERR_NOMEM;
    s->list[s->n++] = x;
    return 0;
}

bool rank_host_collective(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && t->dur_ns[r] > 0 && collective_label(trace_name(t, r));
}

/* ---- collectives */

static int by_event_begin(const void *a, const void *b)
{
    const struct rank_event *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->work < y->work ? -1 : x->work > y->work;
}

static int list_events(const struct context *cx, struct arena *mem, struct rank_summary *s)
{
    const struct trace *t = cx->t;
    size_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += rank_host_collective(t, r);
    s->events = arena_zalloc(mem, n + 1, sizeof *s->events);
    s->groups = arena_zalloc(mem, 2, sizeof *s->groups);
    s->group_names = arena_zalloc(mem, 2, sizeof *s->group_names);
    if (!s->events || !s->groups || !s->group_names) return ERR_NOMEM;
    s->groups[0] = s->group_names[0] = "";
    s->n_groups = 1;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!rank_host_collective(t, r)) continue;
        int64_t begin = t->base_ns + t->ts_ns[r];
        s->events[s->n_events++] =
            (struct rank_event){.begin_ns = begin,
                                .end_ns = begin + t->dur_ns[r],
                                .work = r,
                                .what = (uint32_t)collective_of(trace_name(t, r)) & 63,
                                .bytes = -1,
                                .seq = -1};
    }
    if (s->n_events) qsort(s->events, s->n_events, sizeof *s->events, by_event_begin);
    return 0;
}

/* ---- times: operators are compute, collectives without one beside them are exposed */

static int collect_spans(const struct trace *t, struct span_list *ops, struct span_list *both,
                         struct span_list *comm)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        bool talks = rank_host_collective(t, r);
        if (!talks && (t->kind[r] != KIND_OP || t->dur_ns[r] <= 0)) continue;
        TRY(add_span(talks ? comm : ops, trace_span(t, r)));
        TRY(add_span(both, trace_span(t, r)));
    }
    return 0;
}

static int measure(const struct trace *t, struct rank_summary *s)
{
    struct span_list ops = {0}, both = {0}, comm = {0};
    int rc = collect_spans(t, &ops, &both, &comm);
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

int rank_host_run(const struct rank_reader *in, struct rank_summary *s)
{
    const struct steps *st = steps_of(in->cx);
    s->host_only = true;
    TRY(list_events(in->cx, &in->store->mem, s));
    TRY(measure(in->cx->t, s));
    s->n_steps = st->n_steps;
    s->step_ns = st->n_steps ? span_ns(st->loop) / st->n_steps : s->wall_ns;
    return 0;
}
