/* rank_chart.c: see rank_chart.h. */
#include "analyze/ranks/rank_chart.h"

#include <stdlib.h>

#include "analyze/comm/comm.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/steps/steps.h"

/* Around the focus, where there is no loop or its steps hold too many. */
#define COLLECTIVES_AROUND 20
/* Gaps that are a smaller part of the window cannot be seen. */
#define PARTS 3000

/* ---- what it is about */

static double late_in(const struct rank_collective *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n; i++) sum += (double)c->members[i].late_ns;
    return sum;
}

static uint32_t find_focus(const struct rank_set *s)
{
    uint32_t best = s->n_list / 2;
    double most = 0;
    for (uint32_t i = 0; i < s->n_list; i++) {
        double late = late_in(&s->list[i]);
        if (late <= most) continue;
        most = late;
        best = i;
    }
    return best;
}

static void rank_chart_add_row(struct rank_chart *c, uint32_t rank)
{
    for (uint32_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].rank == rank) return;
    if (c->n_rows < RANK_CHART_ROWS) c->rows[c->n_rows++] = (struct rank_row){.rank = rank};
}

static int rank_chart_by_rank(const void *a, const void *b)
{
    const struct rank_row *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

uint32_t rank_chart_leader(const struct rank_set *s, const struct rank_chart *c)
{
    const struct rank_collective *x = &s->list[c->focus];
    return x->members[x->last].rank;
}

bool rank_chart_pick(const struct rank_set *s, struct rank_chart *ret)
{
    *ret = (struct rank_chart){0};
    if (!s->n_list) return false;
    ret->focus = find_focus(s);
    rank_chart_add_row(ret, rank_chart_leader(s, ret));
    for (uint32_t i = 0; i < s->n_stragglers && ret->n_rows < RANK_CHART_ROWS / 2; i++)
        rank_chart_add_row(ret, s->stragglers[i].rank);
    for (uint32_t r = 0; r < s->n && ret->n_rows < RANK_CHART_ROWS; r++) rank_chart_add_row(ret, r);
    qsort(ret->rows, ret->n_rows, sizeof *ret->rows, rank_chart_by_rank);
    return true;
}

/* ---- the window */

static int64_t rank_chart_begin_of(const struct rank_set *s, const struct rank_collective *c)
{
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rank_member *m = &c->members[i];
        int64_t at = rank_set_time(s, m->rank, s->ranks[m->rank].events[m->event].begin_ns);
        if (at < first) first = at;
    }
    return first;
}

/* Some collectives around the focus, with a margin. */
static void window_around(const struct rank_set *s, struct rank_chart *c)
{
    bool all = s->n_list <= 3 * COLLECTIVES_AROUND;
    uint32_t from = !all && c->focus > COLLECTIVES_AROUND ? c->focus - COLLECTIVES_AROUND : 0;
    uint32_t to = !all && c->focus + COLLECTIVES_AROUND < s->n_list ? c->focus + COLLECTIVES_AROUND
                                                                    : s->n_list - 1;
    int64_t first = INT64_MAX;
    for (uint32_t i = from; i <= to; i++) {
        int64_t at = rank_chart_begin_of(s, &s->list[i]);
        if (at < first) first = at;
    }
    int64_t margin = (s->list[to].end_ns - first) / 50;
    if (all) first = 0, margin = 0;
    c->window = (struct span){first - margin, s->list[to].end_ns + margin};
    c->steps = 0;
}

static uint32_t count_shown(const struct rank_set *s, const struct rank_chart *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_list; i++) n += rank_chart_shows(c, &s->list[i]);
    return n;
}

/* A step as seen on the device: from its first work to that of the next. */
static struct span step_span(const struct steps *st, uint32_t i)
{
    struct span g = st->steps[i].gpu.extent, c = st->steps[i].cpu;
    if (g.end_ns <= g.begin_ns) return c;
    if (i + 1 < st->n_steps) {
        struct span next = st->steps[i + 1].gpu.extent;
        if (next.end_ns > next.begin_ns && next.begin_ns > g.begin_ns) g.end_ns = next.begin_ns;
    }
    return g;
}

static uint32_t step_with(const struct steps *st, int64_t ts_ns)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < st->n_steps; i++)
        if (step_span(st, i).begin_ns <= ts_ns) at = i;
    return at;
}

/* The step of the focus, the one before and the one after. */
static void window_of_steps(const struct context *cx, const struct rank_set *s,
                            struct rank_chart *c)
{
    const struct steps *st = steps_of(cx);
    uint32_t rank = rank_chart_leader(s, c);
    const struct rank_collective *f = &s->list[c->focus];
    const struct rank_event *e = &s->ranks[rank].events[f->members[f->last].event];
    uint32_t at = step_with(st, e->begin_ns - cx->t->base_ns);
    uint32_t from = at ? at - 1 : 0;
    uint32_t n = st->n_steps - from < RANK_CHART_STEPS ? st->n_steps - from : RANK_CHART_STEPS;
    for (uint32_t i = 0; i < n; i++)
        c->step_begin_ns[i] =
            rank_set_time(s, rank, cx->t->base_ns + step_span(st, from + i).begin_ns);
    int64_t end = rank_set_time(s, rank, cx->t->base_ns + step_span(st, from + n - 1).end_ns);
    if (f->end_ns > end) end = f->end_ns;
    int64_t first = rank_chart_begin_of(s, f);
    c->window = (struct span){c->step_begin_ns[0] < first ? c->step_begin_ns[0] : first, end};
    c->first_step = from;
    c->steps = n;
    c->of_steps = st->n_steps;
}

int rank_chart_window(struct context *cx, const struct rank_set *s, struct rank_chart *c,
                      struct err *e)
{
    TRY(context_need(cx, &steps_pass, e));
    if (steps_of(cx)->n_steps) window_of_steps(cx, s, c);
    if (!c->steps || span_ns(c->window) <= 0 || count_shown(s, c) > RANK_CHART_COLLECTIVES)
        window_around(s, c);
    return 0;
}

bool rank_chart_shows(const struct rank_chart *c, const struct rank_collective *x)
{
    return x->end_ns > c->window.begin_ns && x->end_ns - x->transfer_ns < c->window.end_ns;
}

/* ---- rows */

/* Adds a span of the rank's clock, clipped; by begin. */
static void rank_chart_add_span(const struct rank_set *s, const struct rank_chart *c,
                                struct rank_row *row, struct span own)
{
    struct span x = span_both((struct span){rank_set_time(s, row->rank, own.begin_ns),
                                            rank_set_time(s, row->rank, own.end_ns)},
                              c->window);
    int64_t seen = span_ns(c->window) / PARTS;
    if (!span_ns(x)) return;
    if (row->n_compute && x.begin_ns - row->compute[row->n_compute - 1].end_ns <= seen)
        x.begin_ns = row->compute[row->n_compute - 1].end_ns;
    row->n_compute = span_join(row->compute, row->n_compute, x);
}

/* Of a rank without a device: its operators. */
static void add_operators(const struct context *cx, const struct rank_set *s,
                          const struct rank_chart *c, struct rank_row *row)
{
    const struct trace *t = cx->t;
    for (row_t r = steps_of(cx)->n_steps ? t->lanes[steps_of(cx)->lane].begin : 0; r < t->n_rows;
         r++) {
        if (steps_of(cx)->n_steps && r >= t->lanes[steps_of(cx)->lane].end) break;
        if (t->kind[r] != KIND_OP) continue;
        struct span x = trace_span(t, r);
        rank_chart_add_span(s, c, row,
                            (struct span){t->base_ns + x.begin_ns, t->base_ns + x.end_ns});
        if (row->n_compute > PARTS) return;
    }
}

int rank_chart_row(struct context *cx, const struct rank_set *s, const struct rank_chart *c,
                   struct rank_row *row, struct arena *mem)
{
    struct comm_device d = comm_main(comm_of(cx));
    row->compute = arena_zalloc(mem, 2 * PARTS + 2, sizeof *row->compute);
    if (!row->compute) return ERR_NOMEM;
    if (s->ranks[row->rank].host_only) add_operators(cx, s, c, row);
    for (uint32_t i = 0; i < d.compute.n_busy && row->n_compute <= PARTS; i++)
        rank_chart_add_span(s, c, row,
                            (struct span){cx->t->base_ns + d.compute.busy[i].begin_ns,
                                          cx->t->base_ns + d.compute.busy[i].end_ns});
    return 0;
}
