/* edit_graph.c: a stretch of the program as CUDA graphs.
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
#include "analyze/simulate/simulate_constants.h"
#include "analyze/simulate/simulate_private.h"

struct capture {
    struct plan_build *b;
    struct sim_edit *ed;
    struct stretch at;
    bool whole; /* the stretch is replaced as a whole, what is around its launches too */
};

/* The calls of one graph, as indices, and the time they have to themselves. */
struct graph {
    struct stretch_walk from; /* leads to `first` next */
    uint32_t first, last, n;
    int64_t from_ns;
};

static bool is_pageable_copy(const struct sim_model *m, const struct sim_call *c)
{
    row_t r = c->n_work ? m->works[m->works_by_call[c->first_work]].row : ROW_NONE;
    return copy_of(m->t, r).memory == MEMORY_PAGEABLE;
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

/* The graph is complete; `end_ns` is when something else begins. */
static int close_graph(const struct capture *x, const struct graph *g, int64_t end_ns)
{
    const struct sim_model *m = x->b->m;
    if (!x->whole && g->n < edit_graph_launches) return 0;
    struct stretch_walk walk = g->from;
    for (uint32_t n = 0; n < g->n;) {
        uint8_t *mode = &x->b->plan->mode[stretch_next(&walk)];
        if (*mode != SIM_DROP) *mode = n++ ? SIM_CAPTURED : SIM_HEAD;
    }
    x->ed->n_captured += g->n;
    struct sim_cut cut = {.begin_ns = g->from_ns, .end_ns = end_ns};
    if (!x->whole) {
        cut.begin_ns = m->calls[g->first].begin_ns;
        cut.end_ns = m->calls[g->last].end_ns;
    }
    return stretch_cut(x->b, &x->at, cut, false);
}

static int capture_all(const struct capture *x)
{
    const struct sim_model *m = x->b->m;
    struct graph g = {.from_ns = x->at.begin_ns};
    struct stretch_walk walk = stretch_walk_of(m, &x->at), before = walk;
    for (uint32_t c; (c = stretch_next(&walk)) != SIM_NONE; before = walk) {
        if (x->b->plan->mode[c] == SIM_DROP) continue;
        x->ed->has_graphs |= m->calls[c].kind == CALL_GRAPH_LAUNCH;
        if (is_obstacle(x->b, c)) {
            TRY(close_graph(x, &g, m->calls[c].begin_ns));
            g = (struct graph){.from_ns = m->calls[c].end_ns};
            x->ed->crosses_sync = true;
            continue;
        }
        if (!g.n++) {
            g.first = c;
            g.from = before;
        }
        g.last = c;
    }
    return close_graph(x, &g, x->at.end_ns);
}

int capture_run(struct plan_build *b, struct sim_edit *ed, const struct sim_cut *at, bool whole)
{
    struct capture x = {.b = b, .ed = ed, .at = stretch_of(b->m, at), .whole = whole};
    ed->n_matched++;
    return capture_all(&x);
}
