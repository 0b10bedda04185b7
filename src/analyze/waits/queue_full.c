/* queue_full.c: the recorder's "Command Buffer Full" records, asked by time. */
#include "analyze/waits/queue_full.h"

#include "analyze/names/overhead.h"
#include "base/search.h"

static void add_lane(struct queue_full *p, const struct trace *t, const struct lane *l)
{
    for (row_t r = l->begin; r < l->end; r++) {
        if (overhead_kind(trace_name(t, r)) != OVERHEAD_QUEUE_FULL) continue;
        p->n_full = span_join(p->full, p->n_full, trace_span(t, r));
    }
}

int queue_full_init(struct queue_full *p, const struct trace *t, struct arena *mem, struct err *e)
{
    size_t n = 0;
    for (lane_id l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_OVERHEAD) n += t->lanes[l].end - t->lanes[l].begin;
    *p = (struct queue_full){arena_zalloc(mem, n + 1, sizeof *p->full), 0};
    if (!p->full) return err_nomem(e);
    for (lane_id l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_OVERHEAD) add_lane(p, t, &t->lanes[l]);
    return 0;
}

int64_t queue_full_ns(const struct queue_full *p, const struct trace *t, row_t r)
{
    struct span call = trace_span(t, r);
    int64_t sum = 0;
    if (span_ns(call) < PRESSURE_NS) return 0;
    uint32_t i = 0;
    SEARCH_PAST(i, p->n_full, p->full[i].end_ns <= call.begin_ns);
    for (; i < p->n_full && p->full[i].begin_ns < call.end_ns; i++)
        sum += span_ns(span_both(p->full[i], call));
    return sum;
}
