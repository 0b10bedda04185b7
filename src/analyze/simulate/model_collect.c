/* model_collect.c: the nodes of the replay graph: threads, calls, device work, and the window. */
#include "analyze/simulate/model.h"

#include <stdlib.h>

#include "analyze/names/host_cause.h"
#include "analyze/simulate/simulate_private.h"
#include "base/mem.h"

/* Rows that are part of the run itself, not of the recording of it. */
bool model_counts(const struct trace *t, row_t r)
{
    if (t->flags[r] & ROW_PROFILER) return false;
    switch (t->kind[r]) {
    case KIND_OP:
    case KIND_ANNOTATION:
    case KIND_RUNTIME:
    case KIND_DRIVER: return true;
    default: return trace_is_work(t, r) && !(t->flags[r] & ROW_NO_TIME);
    }
}

/* Workers that load data run beside the program: nothing of it waits for a certain one of them. */
static bool is_beside(const struct trace *t, const struct lane *lane)
{
    row_t r = lane->begin;
    while (r < lane->end && !model_counts(t, r)) r++;
    return r < lane->end && host_cause_is_worker(t, r);
}

/* Whether the window must hold the row: all work that is replayed, and what the program's threads
 * do. */
static bool model_collect_in_window(const struct trace *t, row_t r)
{
    if (trace_is_work(t, r)) return !(t->flags[r] & ROW_NO_TIME);
    return model_counts(t, r) && t->phase[r] == 'X' && !host_cause_is_worker(t, r);
}

static void model_collect_find_window(struct model_build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    m->begin_ns = INT64_MAX;
    m->end_ns = INT64_MIN;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!model_collect_in_window(t, r)) continue;
        if (t->ts_ns[r] < m->begin_ns) m->begin_ns = t->ts_ns[r];
        if (trace_end_ns(t, r) > m->end_ns) m->end_ns = trace_end_ns(t, r);
    }
    if (m->begin_ns > m->end_ns) m->begin_ns = m->end_ns = 0;
}

/* Which calls are nodes: those with device work, and those that wait or may wait. */
static bool model_collect_is_node(const struct model_build *b, row_t r)
{
    const struct call_info *c = trace_call(b->t, r);
    if (!c || (b->t->flags[r] & ROW_PROFILER)) return false;
    if (c->n_gpu) return true;
    enum call_kind k = calls_kind(b->calls, b->t, r);
    return call_waits(k) || call_launches(k) || call_allocates(k);
}

static int by_begin_call(const void *a, const void *b)
{
    const struct sim_call *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_begin_work(const void *a, const void *b)
{
    const struct sim_work *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns < y->end_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Driver calls made inside a runtime call are the same launch seen twice: the outer one counts. */
static bool inside_call(const struct trace *t, row_t r)
{
    row_t p = t->parent[r];
    return p != ROW_NONE && (t->kind[p] == KIND_RUNTIME || t->kind[p] == KIND_DRIVER);
}

static int collect_calls(struct model_build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    m->threads = arena_zalloc(b->mem, t->n_lanes, sizeof *m->threads);
    m->calls = arena_zalloc(b->mem, t->n_calls, sizeof *m->calls);
    m->calls_by_thread = arena_alloc(b->mem, (t->n_calls + (size_t)1) * sizeof(uint32_t));
    if (!m->threads || !m->calls || !m->calls_by_thread) return ERR_NOMEM;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (lane->kind != LANE_THREAD || is_beside(t, lane)) continue;
        uint32_t first = m->n_calls;
        struct sim_thread th = {.lane = l, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
        for (row_t r = lane->begin; r < lane->end; r++) {
            if (!model_counts(t, r) || t->phase[r] != 'X') continue;
            if (t->ts_ns[r] < th.begin_ns) th.begin_ns = t->ts_ns[r];
            if (trace_end_ns(t, r) > th.end_ns) th.end_ns = trace_end_ns(t, r);
            if (!model_collect_is_node(b, r) || (inside_call(t, r) && !trace_call(t, r)->n_gpu))
                continue;
            m->calls[m->n_calls++] = (struct sim_call){.row = r,
                                                       .thread = m->n_threads,
                                                       .target = SIM_NONE,
                                                       .kind = calls_kind(b->calls, t, r),
                                                       .begin_ns = t->ts_ns[r],
                                                       .end_ns = trace_end_ns(t, r)};
        }
        if (m->n_calls == first && th.begin_ns > th.end_ns) continue;
        b->thread_of_lane[l] = m->n_threads;
        m->threads[m->n_threads++] = th;
    }
    qsort(m->calls, m->n_calls, sizeof *m->calls, by_begin_call);
    for (uint32_t i = 0; i < m->n_calls; i++) b->call_of_aux[t->aux[m->calls[i].row]] = i;
    return 0;
}

static int collect_works(struct model_build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    m->works = arena_zalloc(b->mem, t->n_gpu, sizeof *m->works);
    m->works_by_call = arena_zalloc(b->mem, t->n_gpu, sizeof *m->works_by_call);
    if (!m->works || !m->works_by_call) return ERR_NOMEM;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM) continue;
        uint32_t stream = SIM_NONE;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (!trace_is_work(t, r) || t->flags[r] & ROW_NO_TIME) continue;
            if (stream == SIM_NONE) stream = b->stream_of_lane[l] = m->n_streams++;
            row_t launch = trace_launch_of(t, r);
            uint32_t call = launch == ROW_NONE ? SIM_NONE : b->call_of_aux[t->aux[launch]];
            m->works[m->n_works++] = (struct sim_work){.row = r,
                                                       .stream = stream,
                                                       .call = call,
                                                       .before = SIM_NONE,
                                                       .waits_for = SIM_NONE,
                                                       .begin_ns = t->ts_ns[r],
                                                       .end_ns = trace_end_ns(t, r)};
        }
    }
    qsort(m->works, m->n_works, sizeof *m->works, by_begin_work);
    return 0;
}

int model_collect(struct model_build *b)
{
    model_collect_find_window(b);
    TRY(collect_calls(b));
    return collect_works(b);
}
