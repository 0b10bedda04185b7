/* capture.c: a stretch of the program as CUDA graphs.
 *
 *     thread   [l][l][l]  [sync]  [l][l]   [malloc]  [l][l][l]
 *     graphs   |-------|          |---|              |-------|
 *
 * What a graph holds is launched by one call, and the CPU time between its launches goes. A wait,
 * an allocation, a copy of pageable memory and the launch of another graph cannot be captured: they
 * stay, and end the graph before them. Threads that the stretch waits for (autograd's) launch into
 * the same graph. */
#include "analyze/names/copy.h"
#include "analyze/simulate/edits.h"
#include "analyze/simulate/simulate_private.h"

/* Fewer launches than this are not worth a graph, where nobody asked for one. */
#define LEAST_LAUNCHES 3

struct capture {
    struct plan_build *b;
    struct sim_edit *ed;
    uint32_t thread;
    int64_t begin_ns, end_ns;
    bool whole; /* the stretch is replaced as a whole, what is around its launches too */
    uint32_t first_join, n_joins; /* into the model: those that end inside the stretch */
};

/* The calls of one graph, as indices, and the time they have to themselves. */
struct graph {
    uint32_t first, last, n;
    int64_t from_ns;
};

static bool is_pageable_copy(const struct sim_model *m, const struct sim_call *c)
{
    if (!c->n_work) return false;
    row_t r = m->works[m->works_by_call[c->first_work]].row;
    return m->t->kind[r] == KIND_MEMCPY && copy_parse(trace_name(m->t, r)).pageable;
}

/* What another edit has changed is no longer in the way. */
static bool is_obstacle(const struct plan_build *b, uint32_t call)
{
    const struct sim_call *c = &b->m->calls[call];
    if (b->plan->mode[call] != SIM_KEEP) return false;
    if (call_allocates(c->kind) || c->kind == CALL_GRAPH_LAUNCH || c->kind == CALL_COPY_SYNC)
        return true;
    return !c->n_work ? c->wait != SIM_WAIT_NOTHING
                      : c->wait == SIM_WAIT_OWN || is_pageable_copy(b->m, c);
}

static bool is_inside(const struct capture *x, const struct sim_call *c)
{
    if (c->thread == x->thread) return true;
    for (uint32_t i = 0; i < x->n_joins; i++) {
        const struct sim_join *j = &x->b->m->joins[x->first_join + i];
        if (j->thread == x->thread && j->other == c->thread && c->begin_ns >= j->begin_ns &&
            c->begin_ns < j->done_ns)
            return true;
    }
    return false;
}

static void find_joins(struct capture *x)
{
    const struct sim_model *m = x->b->m;
    uint32_t lo = 0, hi = m->n_joins;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->joins[mid].end_ns <= x->begin_ns) lo = mid + 1;
        else hi = mid;
    }
    x->first_join = lo;
    while (lo < m->n_joins && m->joins[lo].end_ns <= x->end_ns) lo++;
    x->n_joins = lo - x->first_join;
}

static int cut(struct plan_build *b, uint32_t thread, int64_t begin_ns, int64_t end_ns)
{
    return plan_cut(b, (struct sim_cut){.thread = thread, .begin_ns = begin_ns, .end_ns = end_ns});
}

static int cut_threads(const struct capture *x, int64_t begin_ns, int64_t end_ns)
{
    TRY(cut(x->b, x->thread, begin_ns, end_ns));
    for (uint32_t i = 0; i < x->n_joins; i++) {
        const struct sim_join *j = &x->b->m->joins[x->first_join + i];
        if (j->thread != x->thread) continue;
        TRY(cut(x->b, j->other, j->begin_ns > begin_ns ? j->begin_ns : begin_ns,
                j->done_ns < end_ns ? j->done_ns : end_ns));
    }
    return 0;
}

/* The graph is complete; `end_ns` is when something else begins. */
static int close_graph(const struct capture *x, struct graph *g, int64_t end_ns)
{
    const struct sim_call *calls = x->b->m->calls;
    if (!x->whole && g->n < LEAST_LAUNCHES) return 0;
    for (uint32_t c = g->first, n = 0; n < g->n; c++) {
        if (!is_inside(x, &calls[c]) || x->b->plan->mode[c] == SIM_DROP) continue;
        x->b->plan->mode[c] = n++ ? SIM_CAPTURED : SIM_HEAD;
    }
    x->ed->n_captured += g->n;
    if (x->whole) return cut_threads(x, g->from_ns, end_ns);
    return cut_threads(x, calls[g->first].begin_ns, calls[g->last].end_ns);
}

static int capture_stretch(struct capture *x)
{
    const struct sim_model *m = x->b->m;
    struct graph g = {.from_ns = x->begin_ns};
    find_joins(x);
    for (uint32_t c = sim_call_at(m, x->begin_ns); c < m->n_calls; c++) {
        const struct sim_call *call = &m->calls[c];
        if (call->begin_ns >= x->end_ns) break;
        if (!is_inside(x, call) || x->b->plan->mode[c] == SIM_DROP) continue;
        if (is_obstacle(x->b, c)) {
            TRY(close_graph(x, &g, call->begin_ns));
            g = (struct graph){.from_ns = call->end_ns};
            x->ed->crosses_sync = true;
            continue;
        }
        if (!g.n++) g.first = c;
        g.last = c;
    }
    return close_graph(x, &g, x->end_ns);
}

int capture_run(struct plan_build *b, struct sim_edit *ed, const struct sim_cut *stretch,
                bool whole)
{
    struct capture x = {.b = b,
                        .ed = ed,
                        .thread = stretch->thread,
                        .begin_ns = stretch->begin_ns,
                        .end_ns = stretch->end_ns,
                        .whole = whole};
    ed->n_matched++;
    return capture_stretch(&x);
}
