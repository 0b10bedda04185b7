/* rank_host.c: a rank without a device. Collectives are annotations of the library on threads of
 * its own ("gloo:all_reduce"), and what costs time are functions and operators. */
#include <ctype.h>
#include <stdlib.h>

#include "analyze/names/calls.h"
#include "analyze/names/host_cause.h"
#include "analyze/ranks/rank_summary.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/steps/steps.h"
#include "base/mem.h"
#include "base/vec.h"

/* Functions kept per rank, by the time spent in themselves. */
#define MOST_FUNCTIONS 64

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

static bool is_collective(const struct trace *t, row_t r)
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
    for (row_t r = 0; r < t->n_rows; r++) n += is_collective(t, r);
    s->events = arena_zalloc(mem, n + 1, sizeof *s->events);
    s->groups = arena_zalloc(mem, 2, sizeof *s->groups);
    s->group_names = arena_zalloc(mem, 2, sizeof *s->group_names);
    if (!s->events || !s->groups || !s->group_names) return ERR_NOMEM;
    s->groups[0] = s->group_names[0] = "";
    s->n_groups = 1;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!is_collective(t, r)) continue;
        int64_t begin = t->base_ns + t->ts_ns[r];
        s->events[s->n_events++] = (struct rank_event){.begin_ns = begin,
                                                       .end_ns = begin + t->dur_ns[r],
                                                       .work = r,
                                                       .what = collective_of(trace_name(t, r)),
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
        bool talks = is_collective(t, r);
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

/* ---- functions, by the time spent in themselves */

struct own {
    str_id name;
    uint32_t calls;
    int64_t total_ns;
    row_t longest;
};

static bool counts(const struct trace *t, row_t r)
{
    enum row_kind k = t->kind[r];
    return (k == KIND_PYTHON || k == KIND_OP || k == KIND_ANNOTATION || k == KIND_RUNTIME) &&
           t->lanes[t->lane[r]].kind == LANE_THREAD && !is_collective(t, r);
}

static int by_total(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static struct own *sum_functions(const struct context *cx, uint32_t *ret_n)
{
    const struct trace *t = cx->t;
    int64_t *self = arena_zalloc(cx->mem, (size_t)t->n_rows + 1, sizeof *self);
    struct own *sums = arena_zalloc(cx->mem, t->strings.n + (size_t)1, sizeof *sums);
    if (!self || !sums) return NULL;
    for (row_t r = 0; r < t->n_rows; r++) {
        self[r] += t->dur_ns[r];
        if (t->parent[r] != ROW_NONE) self[t->parent[r]] -= t->dur_ns[r];
    }
    for (row_t r = 0; r < t->n_rows; r++) {
        struct own *x = &sums[t->name[r]];
        if (!counts(t, r) || self[r] <= 0) continue;
        if (!x->calls || self[r] > self[x->longest]) x->longest = r;
        x->name = t->name[r];
        x->calls++;
        x->total_ns += self[r];
    }
    qsort(sums, t->strings.n, sizeof *sums, by_total);
    for (*ret_n = 0; *ret_n < t->strings.n && sums[*ret_n].calls;) ++*ret_n;
    return sums;
}

static enum rank_counter reason_of(const struct context *cx, row_t r)
{
    row_t at = host_causes_around(host_causes_of(cx), r);
    enum host_cause h = at == ROW_NONE ? HOST_OTHER : host_causes_row(host_causes_of(cx), at);
    if (host_cause_is_data(h) || h == HOST_DATA_CALL) return RANK_IDLE_DATA;
    if (host_cause_is_gc(h)) return RANK_IDLE_GC;
    bool call = cx->t->kind[r] == KIND_RUNTIME;
    return call && call_waits(call_kind(trace_name(cx->t, r))) ? RANK_IDLE_SYNC : RANK_IDLE_HOST;
}

/* A name without the addresses in it, which differ from process to process. */
static const char *plain_name(struct arena *mem, struct str s)
{
    char text[256];
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < sizeof text - 1; i++) {
        text[n++] = s.p[i];
        if (n < 2 || text[n - 2] != '0' || text[n - 1] != 'x') continue;
        while (i + 1 < s.n && isxdigit((unsigned char)s.p[i + 1])) i++;
    }
    return rank_keep(mem, str_from(text, n), 160);
}

int rank_functions(const struct context *cx, struct arena *mem, struct rank_summary *s)
{
    uint32_t n;
    const struct own *sums = sum_functions(cx, &n);
    if (!sums) return ERR_NOMEM;
    s->n_functions = n < MOST_FUNCTIONS ? n : MOST_FUNCTIONS;
    s->functions = arena_zalloc(mem, (size_t)s->n_functions + 1, sizeof *s->functions);
    if (!s->functions) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_functions; i++) {
        struct rank_kernel *k = &s->functions[i];
        k->name = plain_name(mem, trace_str(cx->t, sums[i].name));
        k->calls = sums[i].calls;
        k->total_ns = sums[i].total_ns;
        k->reason = reason_of(cx, sums[i].longest);
        k->place.name = k->name;
        rank_find_place(cx, sums[i].longest, mem, &k->place);
    }
    return 0;
}

int rank_host_run(struct context *cx, struct arena *mem, struct rank_summary *s)
{
    const struct steps *st = steps_of(cx);
    s->host_only = true;
    TRY(list_events(cx, mem, s));
    TRY(measure(cx->t, s));
    s->n_steps = st->n_steps;
    s->step_ns = st->n_steps ? span_ns(st->loop) / st->n_steps : s->wall_ns;
    return 0;
}
