/* graph_origin_calls.c: captures that a trace holds, joined with the graphs that were made of them.
 *
 *     thread   [begin]  [launch a] [launch b] [launch c]  [end]  ...  [graph launch]
 *     stream                                                              k1  k2  k3
 *     nodes                 1          2          3                       1   2   3
 *
 * Nodes get their numbers in the order in which they are made, so the k-th launch is the k-th
 * kernel node. Graphs get theirs in order too: where several captures have the same number of
 * launches, and as many graphs that number of kernels, the first belongs to the first. */
#include <stdlib.h>

#include "analyze/names/graph_origin_private.h"
#include "base/mem.h"
#include "base/vec.h"

/* A run of `list`: the launches of a capture, or the nodes of a graph. */
struct run {
    int64_t at; /* when it began, or its graph's number */
    uint32_t first, n;
};

struct node {
    int64_t graph, node;
    uint32_t origin; /* + 1, 0 for none */
};

struct joining {
    struct context *cx;
    struct graph_origins *out;
    struct run *captures, *graphs;
    size_t n_captures, cap_captures, n_graphs, cap_graphs;
    row_t *launches;
    size_t n_launches, cap_launches;
    struct captured_place *places; /* of kernels that name no node */
    struct node *nodes;            /* of kernels, once each; by graph, then node */
    size_t n_nodes, cap_nodes;
};

static int graph_origin_calls_add_launch(struct joining *j, row_t r)
{
    const struct trace *t = j->out->made;
    row_t up = t->parent[r];
    if (up != ROW_NONE && calls_kind(&j->out->calls, t, up) == CALL_LAUNCH) return 0;
    if (VEC_RESERVE(j->launches, j->n_launches, j->cap_launches, 1)) return ERR_NOMEM;
    j->launches[j->n_launches++] = r;
    return 0;
}

/* The runtime's call and the driver's inside it are one. */
static int look_at_call(struct joining *j, row_t r, bool *capturing)
{
    const struct trace *t = j->out->made;
    struct str name = trace_name(t, r);
    if (*capturing && calls_kind(&j->out->calls, t, r) == CALL_LAUNCH)
        return graph_origin_calls_add_launch(j, r);
    if (!*capturing && str_has(name, "StreamBeginCapture")) {
        if (VEC_RESERVE(j->captures, j->n_captures, j->cap_captures, 1)) return ERR_NOMEM;
        j->captures[j->n_captures++] =
            (struct run){.at = t->ts_ns[r], .first = (uint32_t)j->n_launches};
        *capturing = true;
    } else if (*capturing && str_has(name, "StreamEndCapture")) {
        struct run *c = &j->captures[j->n_captures - 1];
        c->n = (uint32_t)j->n_launches - c->first;
        *capturing = false;
    }
    return 0;
}

static int find_captures(struct joining *j)
{
    const struct trace *t = j->out->made;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        bool capturing = false;
        if (t->lanes[l].kind != LANE_THREAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++)
            if (t->kind[r] == KIND_RUNTIME || t->kind[r] == KIND_DRIVER)
                TRY(look_at_call(j, r, &capturing));
        if (capturing) j->n_captures--; /* it has not ended */
    }
    return 0;
}

static int graph_origin_calls_by_node(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    if (x->graph != y->graph) return x->graph < y->graph ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static struct captured_place graph_origin_calls_place_of(const struct joining *j, row_t r)
{
    const struct trace *t = j->cx->t;
    if (t->kind[r] != KIND_KERNEL) return (struct captured_place){ID_NONE, ID_NONE};
    const struct gpu_info *g = trace_gpu(t, r);
    return captured_has_node(t, r) ? (struct captured_place){g->graph_id, g->graph_node}
                                   : j->places[t->aux[r]];
}

static int find_nodes(struct joining *j)
{
    const struct trace *t = j->cx->t;
    size_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        struct captured_place at = graph_origin_calls_place_of(j, r);
        if (at.node == ID_NONE) continue;
        if (VEC_RESERVE(j->nodes, j->n_nodes, j->cap_nodes, 1)) return ERR_NOMEM;
        j->nodes[j->n_nodes++] = (struct node){.graph = at.graph, .node = at.node};
    }
    if (j->n_nodes) qsort(j->nodes, j->n_nodes, sizeof *j->nodes, graph_origin_calls_by_node);
    for (size_t i = 0; i < j->n_nodes; i++)
        if (!n || graph_origin_calls_by_node(&j->nodes[n - 1], &j->nodes[i]) != 0)
            j->nodes[n++] = j->nodes[i];
    j->n_nodes = n;
    return 0;
}

static int find_graphs(struct joining *j)
{
    for (size_t i = 0; i < j->n_nodes; i++) {
        bool same = i && j->nodes[i - 1].graph == j->nodes[i].graph;
        if (!same && VEC_RESERVE(j->graphs, j->n_graphs, j->cap_graphs, 1)) return ERR_NOMEM;
        if (!same)
            j->graphs[j->n_graphs++] = (struct run){.at = j->nodes[i].graph, .first = (uint32_t)i};
        j->graphs[j->n_graphs - 1].n++;
    }
    return 0;
}

static int graph_origin_calls_by_size(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The row's stack, without its operators. */
static int fill_stack(struct joining *j, row_t r, struct graph_origin_node *o)
{
    const struct trace *t = j->out->made;
    uint32_t n = 0;
    for (row_t i = r; i != ROW_NONE; i = t->parent[i]) n += t->kind[i] == KIND_PYTHON;
    struct str *stack = arena_alloc(j->cx->mem, (n ? n : 1) * sizeof *stack);
    if (!stack) return ERR_NOMEM;
    o->stack = stack;
    o->n = n;
    for (row_t i = r; i != ROW_NONE; i = t->parent[i])
        if (t->kind[i] == KIND_PYTHON) stack[--n] = trace_name(t, i);
    return 0;
}

static int graph_origin_calls_add_origin(struct joining *j, row_t call, uint32_t *ret)
{
    struct graph_origin_node *o = captured_add(j->cx, j->out);
    if (!o || fill_stack(j, call, o) < 0) return ERR_NOMEM;
    row_t op = trace_up(j->out->made, call, KIND_OP);
    o->call = call;
    if (op != ROW_NONE) o->op = trace_name(j->out->made, op);
    captured_finish(o);
    *ret = j->out->n_origins;
    return 0;
}

static int graph_origin_calls_join(struct joining *j, const struct run *capture,
                                   const struct run *graph)
{
    for (uint32_t i = 0; i < graph->n; i++)
        TRY(graph_origin_calls_add_origin(j, j->launches[capture->first + i],
                                          &j->nodes[graph->first + i].origin));
    return 0;
}

static size_t graph_origin_calls_same_size(const struct run *list, size_t i, size_t n)
{
    size_t end = i;
    while (end < n && list[end].n == list[i].n) end++;
    return end - i;
}

/* Both sorted by size. Those of one size are joined where there are equally many. */
static int join_all(struct joining *j)
{
    qsort(j->captures, j->n_captures, sizeof *j->captures, graph_origin_calls_by_size);
    qsort(j->graphs, j->n_graphs, sizeof *j->graphs, graph_origin_calls_by_size);
    for (size_t c = 0, g = 0; c < j->n_captures && g < j->n_graphs;) {
        size_t n_c = graph_origin_calls_same_size(j->captures, c, j->n_captures);
        size_t n_g = graph_origin_calls_same_size(j->graphs, g, j->n_graphs);
        uint32_t launches = j->captures[c].n, kernels = j->graphs[g].n;
        for (size_t i = 0; launches == kernels && n_c == n_g && i < n_g; i++)
            TRY(graph_origin_calls_join(j, &j->captures[c + i], &j->graphs[g + i]));
        if (launches <= kernels) c += n_c;
        if (kernels <= launches) g += n_g;
    }
    return 0;
}

static void graph_origin_calls_find_rows(struct joining *j)
{
    const struct trace *t = j->cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        struct captured_place place = graph_origin_calls_place_of(j, r);
        if (place.node == ID_NONE) continue;
        struct node key = {.graph = place.graph, .node = place.node};
        const struct node *at =
            bsearch(&key, j->nodes, j->n_nodes, sizeof key, graph_origin_calls_by_node);
        if (at) j->out->origin_of[t->aux[r]] = at->origin;
    }
}

static int graph_origin_calls_run(struct joining *j)
{
    TRY(find_captures(j));
    if (!j->n_captures) return 0;
    TRY(graph_origin_places(j->cx, &j->places));
    TRY(find_nodes(j));
    TRY(find_graphs(j));
    if (!j->n_graphs) return 0;
    TRY(join_all(j));
    graph_origin_calls_find_rows(j);
    return 0;
}

int captured_from_calls(struct context *cx, struct graph_origins *c, struct err *e)
{
    struct joining j = {.cx = cx, .out = c};
    int rc = graph_origin_calls_run(&j);
    mem_free(j.captures);
    mem_free(j.graphs);
    mem_free(j.launches);
    mem_free(j.nodes);
    return rc < 0 ? err_nomem(e) : 0;
}
