/* model.c: turning a trace into the replay graph. Three steps: collect nodes (threads, calls,
 * device work), measure what is typical, then give every node its constants. */
#include "analyze/simulate/model.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/simulate/clock_power.h"
#include "analyze/simulate/simulate_private.h"
#include "base/mem.h"
#include "base/search.h"

static void group_works_by_call(struct sim_model *m)
{
    for (uint32_t c = 0; c < m->n_calls; c++) m->calls[c].n_work = 0;
    for (uint32_t w = 0; w < m->n_works; w++)
        if (m->works[w].call != SIM_NONE) m->calls[m->works[w].call].n_work++;
    uint32_t at = 0;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        m->calls[c].first_work = at;
        at += m->calls[c].n_work;
        m->calls[c].n_work = 0;
    }
    for (uint32_t w = 0; w < m->n_works; w++) {
        if (m->works[w].call == SIM_NONE) continue;
        struct sim_call *c = &m->calls[m->works[w].call];
        m->works_by_call[c->first_work + c->n_work++] = w;
    }
}

/* Chains and lists the nodes of each thread. */
static void chain_calls(struct sim_model *m)
{
    for (uint32_t i = 0; i < m->n_threads; i++) {
        m->threads[i].first_call = SIM_NONE;
        m->threads[i].n_calls = 0;
    }
    for (uint32_t c = m->n_calls; c-- > 0;) {
        struct sim_thread *th = &m->threads[m->calls[c].thread];
        m->calls[c].next = th->first_call;
        th->first_call = c;
        th->n_calls++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        m->threads[i].calls_at = at;
        for (uint32_t c = m->threads[i].first_call; c != SIM_NONE; c = m->calls[c].next)
            m->calls_by_thread[at++] = c;
    }
}

void sim_model_link(struct sim_model *m)
{
    group_works_by_call(m);
    chain_calls(m);
}

static int build_all(struct model_build *b)
{
    const struct trace *t = b->t;
    size_t n = t->n_lanes + 1;
    b->thread_of_lane = arena_alloc(b->mem, n * sizeof *b->thread_of_lane);
    b->stream_of_lane = arena_alloc(b->mem, n * sizeof *b->stream_of_lane);
    b->stream_end = arena_zalloc(b->mem, n, sizeof *b->stream_end);
    b->stream_last = arena_alloc(b->mem, n * sizeof *b->stream_last);
    b->call_of_aux = arena_alloc(b->mem, (t->n_calls + (size_t)1) * sizeof *b->call_of_aux);
    if (!b->thread_of_lane || !b->stream_of_lane || !b->stream_end || !b->stream_last ||
        !b->call_of_aux)
        return ERR_NOMEM;
    memset(b->thread_of_lane, 0xff, n * sizeof *b->thread_of_lane);
    memset(b->stream_of_lane, 0xff, n * sizeof *b->stream_of_lane);
    memset(b->stream_last, 0xff, n * sizeof *b->stream_last);
    memset(b->call_of_aux, 0xff, (t->n_calls + (size_t)1) * sizeof *b->call_of_aux);
    TRY(model_collect(b));
    sim_model_link(b->m);
    TRY(model_constants(b));
    TRY(recording_weight_set(b->m, b->mem));
    return model_joins(b);
}

int sim_model_run(const struct trace *t, const struct calls *calls, struct arena *mem,
                  struct sim_model *ret, struct err *e)
{
    *ret = (struct sim_model){.t = t};
    struct model_build b = {.t = t, .calls = calls, .mem = mem, .m = ret};
    int rc = build_all(&b);
    TRY(err_grow(e, rc));
    return clock_power_drop(t, mem, &ret->clock_drop_pct, e);
}

static int model_run_pass(struct context *cx, void *ret, struct err *e)
{
    return sim_model_run(cx->t, calls_of(cx), cx->mem, ret, e);
}

static const struct pass *const needs[] = {&calls_pass, NULL};

const struct pass model_pass = {
    .id = PASS_MODEL,
    .size = sizeof(struct sim_model),
    .needs = needs,
    .run = model_run_pass,
};

uint32_t sim_call_at(const struct sim_model *m, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, m->n_calls, m->calls[i].begin_ns < ts_ns);
    return i;
}

uint32_t sim_thread_call_at(const struct sim_model *m, uint32_t thread, int64_t ts_ns)
{
    const struct sim_thread *th = &m->threads[thread];
    const uint32_t *calls = m->calls_by_thread + th->calls_at;
    uint32_t i = 0;
    SEARCH_PAST(i, th->n_calls, m->calls[calls[i]].begin_ns < ts_ns);
    return i < th->n_calls ? calls[i] : SIM_NONE;
}

uint32_t sim_join_after(const struct sim_model *m, uint32_t thread, int64_t ts_ns)
{
    uint32_t i = m->threads[thread].first_join;
    SEARCH_PAST(i, m->threads[thread].end_join, m->joins[i].end_ns <= ts_ns);
    return i;
}

/* Calls are ordered by begin, then by row. */
static bool model_is_before(const struct sim_call *c, int64_t begin, row_t row)
{
    return c->begin_ns < begin || (c->begin_ns == begin && c->row < row);
}

uint32_t sim_thread_of(const struct sim_model *m, lane_id lane)
{
    uint32_t i = 0;
    SEARCH_PAST(i, m->n_threads, m->threads[i].lane < lane);
    return i < m->n_threads && m->threads[i].lane == lane ? i : SIM_NONE;
}

uint32_t sim_find_call(const struct sim_model *m, row_t row)
{
    int64_t begin = m->t->ts_ns[row];
    uint32_t i = 0;
    SEARCH_PAST(i, m->n_calls, model_is_before(&m->calls[i], begin, row));
    return i < m->n_calls && m->calls[i].row == row ? i : SIM_NONE;
}
