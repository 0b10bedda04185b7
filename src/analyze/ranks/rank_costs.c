/* rank_costs.c: what costs time on a rank, by name and stage: kernels, reasons for an idle device,
 * functions. */
#include <ctype.h>
#include <stdlib.h>

#include "analyze/comm/host_messages.h"
#include "analyze/gaps/gaps.h"
#include "analyze/names/calls.h"
#include "analyze/names/host_cause.h"
#include "analyze/ranks/rank_summary.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/stages/stages.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

/* Kept per rank of each; the rest takes too little time to make it late. */
#define MOST_COSTS 64

struct cost_sum {
    str_id name;
    uint32_t node; /* of the stages */
    uint32_t calls;
    int64_t total_ns, longest_ns, tail_ns;
    double blocks;
    row_t longest;
};

struct summing {
    const struct rank_reader *in;
    struct map at;
    struct cost_sum *list;
    size_t n, cap;
};

static int rank_costs_by_total(const void *a, const void *b)
{
    const struct cost_sum *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Adds `ns` of row `r`, launched or run by row `host`. */
static int add_cost(struct summing *w, row_t r, row_t host, int64_t ns, double blocks)
{
    str_id name = w->in->cx->t->name[r];
    uint32_t node = rank_stage_node(w->in, host);
    uint32_t *at = map_at(&w->at, map_mix((uint64_t)name << 32 | node));
    if (!at || VEC_RESERVE(w->list, w->n, w->cap, 1)) return ERR_NOMEM;
    if (*at == MAP_NONE) {
        *at = (uint32_t)w->n;
        w->list[w->n++] = (struct cost_sum){.name = name, .node = node, .longest = r};
    }
    struct cost_sum *s = &w->list[*at];
    if (ns > s->longest_ns) s->longest = r, s->longest_ns = ns;
    s->calls++;
    s->total_ns += ns;
    if (w->in->cx->t->ts_ns[r] > w->in->launched_ns) s->tail_ns += ns;
    s->blocks += blocks;
    return 0;
}

static int rank_costs_room(const struct rank_reader *in, size_t n, struct rank_costs *ret)
{
    ret->n = 0;
    ret->list = arena_zalloc(&in->store->mem, n + 1, sizeof *ret->list);
    return ret->list ? 0 : ERR_NOMEM;
}

/* ---- kernels */

static double blocks_of(const struct gpu_info *g)
{
    return g ? (double)g->grid[0] * g->grid[1] * g->grid[2] : 0;
}

static int sum_kernels(struct summing *w)
{
    const struct context *cx = w->in->cx;
    const struct trace *t = cx->t;
    const struct device_line *d = &timeline_of(cx)->devices[comm_of(cx)->busiest];
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        if (t->kind[r] != KIND_KERNEL || collective_kernel(trace_name(t, r))) continue;
        TRY(add_cost(w, r, trace_launch_of(t, r), t->dur_ns[r], blocks_of(trace_gpu(t, r))));
    }
    return 0;
}

static int list_kernels(struct summing *w, struct rank_summary *s)
{
    const struct trace *t = w->in->cx->t;
    TRY(rank_costs_room(w->in, w->n < MOST_COSTS ? w->n : MOST_COSTS, &s->kernels));
    for (size_t i = 0; i < w->n && i < MOST_COSTS; i++) {
        const struct cost_sum *x = &w->list[i];
        struct rank_cost *k = &s->kernels.list[s->kernels.n++];
        *k = (struct rank_cost){.name = rank_keep(w->in, trace_str(t, x->name), 160),
                                .calls = x->calls,
                                .total_ns = x->total_ns,
                                .blocks = x->blocks / x->calls};
        k->place.name = k->name;
        rank_find_place(w->in, trace_launch_of(t, x->longest), &k->place);
    }
    return 0;
}

/* ---- idle time */

static bool is_sync(const struct gap_cause *c)
{
    return c->kind == CAUSE_SYNC && c->site != SYNCS_NO_SITE;
}

static void rank_costs_add_sync(const struct rank_reader *in, const struct sync_site *site,
                                struct rank_cost *ret)
{
    const struct trace *t = in->cx->t;
    row_t op = site->place.op;
    struct str name = op == ROW_NONE ? trace_str(t, site->call) : trace_name(t, op);
    *ret = (struct rank_cost){.name = rank_keep(in, name, 80),
                              .reason = RANK_IDLE_SYNC,
                              .calls = site->n_rows,
                              .total_ns = site->exposed_ns};
    ret->place.name = ret->name;
    rank_find_place(in, site->n_rows ? site->rows[0] : ROW_NONE, &ret->place);
}

static void rank_costs_add_idle(const struct rank_reader *in, uint32_t cause, struct rank_cost *ret)
{
    const struct gap_cause *c = &gaps_of(in->cx)->causes[cause];
    *ret = (struct rank_cost){.name = rank_keep(in, c->name, 80),
                              .reason = (enum rank_counter)rank_idle_counter(in->cx, cause),
                              .calls = c->count,
                              .total_ns = c->idle_ns};
    ret->place.name = ret->name;
    rank_find_place(in, c->frame != ROW_NONE ? c->frame : c->row, &ret->place);
}

static int list_idle(const struct rank_reader *in, struct rank_summary *s)
{
    const struct gaps *g = gaps_of(in->cx);
    const struct syncs *y = syncs_of(in->cx);
    TRY(rank_costs_room(in, 2 * (size_t)MOST_COSTS, &s->idle));
    for (uint32_t i = 0; i < y->n_sites && i < MOST_COSTS; i++)
        rank_costs_add_sync(in, &y->sites[i], &s->idle.list[s->idle.n++]);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_causes && n < MOST_COSTS; i++) { /* most idle time first */
        if (g->causes[i].device != comm_of(in->cx)->busiest || is_sync(&g->causes[i])) continue;
        rank_costs_add_idle(in, i, &s->idle.list[s->idle.n++]);
        n++;
    }
    return 0;
}

/* ---- functions, by the time spent in themselves */

static bool rank_costs_counts(const struct trace *t, row_t r)
{
    enum row_kind k = t->kind[r];
    return (k == KIND_PYTHON || k == KIND_OP || k == KIND_ANNOTATION || k == KIND_RUNTIME) &&
           t->lanes[t->lane[r]].kind == LANE_THREAD && !host_message_is(t, r);
}

static int sum_functions(struct summing *w)
{
    const struct trace *t = w->in->cx->t;
    int64_t *self = arena_zalloc(w->in->cx->mem, (size_t)t->n_rows + 1, sizeof *self);
    if (!self) return ERR_NOMEM;
    for (row_t r = 0; r < t->n_rows; r++) {
        self[r] += t->dur_ns[r];
        if (t->parent[r] != ROW_NONE) self[t->parent[r]] -= t->dur_ns[r];
    }
    for (row_t r = 0; r < t->n_rows; r++)
        if (rank_costs_counts(t, r) && self[r] > 0 && t->ts_ns[r] >= w->in->from_ns &&
            t->ts_ns[r] < w->in->to_ns)
            TRY(add_cost(w, r, r, self[r], 0));
    return 0;
}

static enum rank_counter rank_costs_reason_of(const struct context *cx, row_t r)
{
    row_t at = host_causes_around(host_causes_of(cx), r);
    enum host_cause h = at == ROW_NONE ? HOST_OTHER : host_causes_row(host_causes_of(cx), at);
    if (host_cause_is_data(h) || h == HOST_DATA_CALL) return RANK_IDLE_DATA;
    if (host_cause_is_gc(h)) return RANK_IDLE_GC;
    bool call = cx->t->kind[r] == KIND_RUNTIME;
    return call && call_waits(call_kind(trace_name(cx->t, r))) ? RANK_IDLE_SYNC : RANK_IDLE_HOST;
}

/* A name without the addresses in it, which differ from process to process. */
static const char *plain_name(const struct rank_reader *in, struct str s)
{
    char text[256];
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < sizeof text - 1; i++) {
        text[n++] = s.p[i];
        if (n < 2 || text[n - 2] != '0' || text[n - 1] != 'x') continue;
        while (i + 1 < s.n && isxdigit((unsigned char)s.p[i + 1])) i++;
    }
    return rank_keep(in, str_from(text, n), 160);
}

static int list_functions(struct summing *w, struct rank_summary *s)
{
    const struct context *cx = w->in->cx;
    TRY(rank_costs_room(w->in, w->n < MOST_COSTS ? w->n : MOST_COSTS, &s->functions));
    for (size_t i = 0; i < w->n && i < MOST_COSTS; i++) {
        const struct cost_sum *x = &w->list[i];
        struct rank_cost *k = &s->functions.list[s->functions.n++];
        *k = (struct rank_cost){.name = plain_name(w->in, trace_str(cx->t, x->name)),
                                .reason = rank_costs_reason_of(cx, x->longest),
                                .calls = x->calls,
                                .total_ns = x->total_ns,
                                .tail_ns = x->tail_ns};
        k->place.name = k->name;
        rank_find_place(w->in, x->longest, &k->place);
    }
    return 0;
}

/* ---- all of them */

static int sum_and_list(const struct rank_reader *in, int (*sum)(struct summing *),
                        int (*list)(struct summing *, struct rank_summary *),
                        struct rank_summary *s)
{
    struct summing w = {.in = in};
    map_init(&w.at);
    int rc = sum(&w);
    if (rc == 0 && w.n) qsort(w.list, w.n, sizeof *w.list, rank_costs_by_total);
    if (rc == 0) rc = list(&w, s);
    map_done(&w.at);
    mem_free(w.list);
    return rc;
}

int rank_costs_run(const struct rank_reader *in, struct rank_summary *s)
{
    TRY(sum_and_list(in, sum_functions, list_functions, s));
    if (comm_of(in->cx)->busiest == UINT32_MAX) return 0;
    TRY(sum_and_list(in, sum_kernels, list_kernels, s));
    return list_idle(in, s);
}
