/* queue_full.c: the recorder's "Command Buffer Full" records, asked by time. */
#include "analyze/waits/queue_full.h"

#include "analyze/names/overhead.h"
#include "base/search.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add_lane(struct queue_full *p, const struct trace *t, const struct lane *l)
{
    for (row_t r = l->begin; r < l->end; r++) {
        if (overhead_kind(trace_name(t, r)) != OVERHEAD_QUEUE_FULL) continue;
        struct span *last = p->n_full ? &p->full[p->n_full - 1] : NULL;
        struct span s = {t->ts_ns[r], trace_end_ns(t, r)};
        if (!last || s.begin_ns > last->end_ns) p->full[p->n_full++] = s;
        else last->end_ns = most(s.end_ns, last->end_ns);
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
    int64_t begin = t->ts_ns[r], end = trace_end_ns(t, r), sum = 0;
    if (end - begin < PRESSURE_NS) return 0;
    uint32_t i = 0;
    SEARCH_PAST(i, p->n_full, p->full[i].end_ns <= begin);
    for (; i < p->n_full && p->full[i].begin_ns < end; i++)
        sum += least(p->full[i].end_ns, end) - most(p->full[i].begin_ns, begin);
    return sum;
}
