/* rank_events.c: the collectives of a rank, and what it did between them. */
#include <stdlib.h>

#include "analyze/gaps/gaps.h"
#include "analyze/names/host_cause.h"
#include "analyze/ranks/rank_summary.h"
#include "analyze/ranks/ranks_private.h"
#include "base/search.h"

/* ---- idle time, by reason */

int rank_idle_counter(const struct context *cx, uint32_t cause)
{
    const struct gap_cause *c = &gaps_of(cx)->causes[cause];
    row_t r = c->row == ROW_NONE ? ROW_NONE : host_causes_around(host_causes_of(cx), c->row);
    enum host_cause h = r == ROW_NONE ? HOST_OTHER : host_causes_row(host_causes_of(cx), r);
    if (host_cause_is_data(h) || h == HOST_DATA_CALL) return RANK_IDLE_DATA;
    if (host_cause_is_gc(h)) return RANK_IDLE_GC;
    switch (c->kind) {
    case CAUSE_SYNC:
    case CAUSE_ALLOCATION: return RANK_IDLE_SYNC;
    case CAUSE_PYTHON:
    case CAUSE_LABEL:
    case CAUSE_UNTRACED:
    case CAUSE_LOADING:
    case CAUSE_CORE:
    case CAUSE_CGROUP:
    case CAUSE_FAULTS:
    case CAUSE_GIL: return RANK_IDLE_HOST;
    case CAUSE_OP:
    case CAUSE_DYNAMO:
    case CAUSE_CALL:
    case CAUSE_LAUNCH:
    case CAUSE_GRAPH: return RANK_IDLE_LAUNCH;
    default: return RANK_IDLE_OTHER;
    }
}

/* Idle time so far, at the end of each gap of the device. */
struct idle_sum {
    int64_t end_ns;
    int64_t ns[RANK_TIMES];
};

struct sums {
    struct idle_sum *list; /* by end; list[0] is zero */
    uint32_t n;
};

static int rank_events_by_end(const void *a, const void *b)
{
    int64_t x = ((const struct idle_sum *)a)->end_ns, y = ((const struct idle_sum *)b)->end_ns;
    return (x > y) - (x < y);
}

static int sum_idle(const struct context *cx, struct sums *ret)
{
    const struct gaps *g = gaps_of(cx);
    ret->list = arena_zalloc(cx->mem, (size_t)g->n_all + 1, sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    ret->list[0].end_ns = INT64_MIN;
    ret->n = 1;
    for (uint32_t i = 0; i < g->n_all; i++) {
        if (g->all[i].device != comm_of(cx)->busiest) continue;
        struct idle_sum *s = &ret->list[ret->n++];
        s->end_ns = g->all[i].at->end_ns;
        for (uint32_t k = 0; k < g->all[i].n_parts; k++) {
            const struct gap_share *p = &g->all[i].parts[k];
            int c = rank_idle_counter(cx, p->cause);
            /* launches are late because a sync left nothing queued */
            if (c == RANK_IDLE_LAUNCH && g->all[i].site != CAUSE_NO_SITE) c = RANK_IDLE_SYNC;
            s->ns[c] += p->ns;
        }
    }
    qsort(ret->list, ret->n, sizeof *ret->list, rank_events_by_end);
    for (uint32_t i = 1; i < ret->n; i++)
        for (int k = 0; k < RANK_TIMES; k++) ret->list[i].ns[k] += ret->list[i - 1].ns[k];
    return 0;
}

/* ---- collectives */

static void read_counters(const struct context *cx, const struct sums *idle, int64_t ts_ns,
                          int64_t *ret)
{
    const struct comm_device *d = &comm_of(cx)->devices[comm_of(cx)->busiest];
    const struct device_line *line = &timeline_of(cx)->devices[comm_of(cx)->busiest];
    uint32_t i = 0;
    SEARCH_PAST(i, idle->n, idle->list[i].end_ns <= ts_ns);
    for (int k = 0; k < RANK_TIMES; k++) ret[k] = i ? idle->list[i - 1].ns[k] : 0;
    int64_t busy = timeline_busy_ns(line, line->extent.begin_ns, ts_ns);
    int64_t exposed = timeline_busy_ns(&d->exposed, line->extent.begin_ns, ts_ns);
    ret[RANK_COMPUTE] = timeline_busy_ns(&d->compute, line->extent.begin_ns, ts_ns);
    ret[RANK_COPIES] = busy - exposed - ret[RANK_COMPUTE];
}

void rank_event_set(struct rank_event *e, const int64_t *ns)
{
    int64_t most = 0;
    for (int k = 0; k < RANK_TIMES; k++)
        if (ns[k] > most) most = ns[k];
    e->unit_ns = (float)most / UINT16_MAX;
    for (int k = 0; k < RANK_TIMES; k++) {
        double share = most && ns[k] > 0 ? (double)ns[k] / (double)most : 0;
        e->since[k] = (uint16_t)(share * UINT16_MAX + 0.5);
    }
}

/* The number of kernels, copies and fills that have begun; other collectives do not count. */
static uint32_t work_at(const struct context *cx, int64_t ts_ns, uint32_t collectives)
{
    const struct device_line *line = &timeline_of(cx)->devices[comm_of(cx)->busiest];
    int64_t n = timeline_work_at(cx->t, line, ts_ns) - (int64_t)collectives;
    return n > 0 ? (uint32_t)n : 0;
}

/* Counters at the end of the collective before. */
struct so_far {
    int64_t ns[RANK_TIMES];
    uint32_t kernels;
};

static void rank_events_add_event(const struct context *cx, const struct sums *idle, uint32_t i,
                                  struct so_far *before, struct rank_summary *s)
{
    const struct message *m = &messages_of(cx)->list[i];
    row_t r = comm_of(cx)->works[i].row;
    struct rank_event *x = &s->events[s->n_events];
    int64_t begin[RANK_TIMES];
    *x = (struct rank_event){.begin_ns = cx->t->base_ns + cx->t->ts_ns[r],
                             .end_ns = cx->t->base_ns + trace_end_ns(cx->t, r),
                             .group = m->group & RANK_GROUPS,
                             .work = i,
                             .what = (uint32_t)m->what & 63,
                             .bytes = m->bytes,
                             .exposed_ns = (float)comm_of(cx)->works[i].exposed_ns,
                             .seq = m->seq < 0 ? -1 : (int32_t)(m->seq & INT32_MAX)};
    read_counters(cx, idle, cx->t->ts_ns[r], begin);
    uint32_t kernels = work_at(cx, cx->t->ts_ns[r], s->n_events);
    if (!s->n_events || x[-1].end_ns <= x->begin_ns) {
        for (int k = 0; k < RANK_TIMES; k++) begin[k] -= before->ns[k];
        rank_event_set(x, begin);
        x->kernels = kernels > before->kernels ? kernels - before->kernels : 0;
    }
    read_counters(cx, idle, trace_end_ns(cx->t, r), before->ns);
    before->kernels = work_at(cx, trace_end_ns(cx->t, r), ++s->n_events);
}

int rank_events_run(const struct rank_reader *in, struct rank_summary *s)
{
    const struct context *cx = in->cx;
    const struct comm *c = comm_of(cx);
    struct so_far before = {0};
    struct sums idle;
    TRY(sum_idle(cx, &idle));
    s->events = arena_zalloc(&in->store->mem, (size_t)c->n_works + 1, sizeof *s->events);
    if (!s->events) return ERR_NOMEM;
    for (uint32_t i = 0; i < c->n_works; i++)
        if (c->works[i].device == c->busiest && cx->t->dur_ns[c->works[i].row])
            rank_events_add_event(cx, &idle, i, &before, s);
    return 0;
}
