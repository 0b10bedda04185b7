/* graph_origin_places.c: places for replayed kernels that name no node, as those of torch.profiler
 * do not. Kernels of one launch on one stream run in the order in which they were captured, so that
 * a kernel's place is its node. Launches with the same kernels in the same order are launches of
 * one graph; what ran on several streams may have changed places, and has none. */
#include <stdlib.h>

#include "analyze/names/calls.h"
#include "analyze/names/graph_origin_private.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct replayed {
    row_t launch, row;
    int64_t launched_ns, ts_ns;
    lane_id lane;
};

struct placing {
    const struct trace *t;
    const struct calls *calls;
    struct replayed *list;
    size_t n, cap;
    struct map graphs; /* by what their kernels are called */
    struct captured_place *places;
};

static bool is_of_launch(const struct calls *calls, const struct trace *t, row_t r)
{
    row_t call = trace_launch_of(t, r);
    return call != ROW_NONE && calls_kind(calls, t, call) == CALL_GRAPH_LAUNCH;
}

bool graph_origin_is_replayed(const struct calls *calls, const struct trace *t, row_t r)
{
    if (!trace_is_work(t, r)) return false;
    const struct gpu_info *g = trace_gpu(t, r);
    return captured_has_node(t, r) || (g->graph_id != ID_NONE && g->graph_id > 0) ||
           is_of_launch(calls, t, r);
}

static int graph_origin_places_collect(struct placing *p)
{
    const struct trace *t = p->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_KERNEL || captured_has_node(t, r)) continue;
        if (!is_of_launch(p->calls, t, r)) continue;
        if (VEC_RESERVE(p->list, p->n, p->cap, 1)) return ERR_NOMEM;
        row_t launch = trace_launch_of(t, r);
        p->list[p->n++] = (struct replayed){launch, r, t->ts_ns[launch], t->ts_ns[r], t->lane[r]};
    }
    return 0;
}

static int in_order(const void *a, const void *b)
{
    const struct replayed *x = a, *y = b;
    if (x->launched_ns != y->launched_ns) return x->launched_ns < y->launched_ns ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* One launch, from `begin` on. Graphs are numbered as they are first launched. */
static int place_launch(struct placing *p, size_t begin, size_t end)
{
    const struct replayed *first = &p->list[begin];
    uint64_t kernels = end - begin;
    for (size_t i = begin; i < end; i++) {
        if (p->list[i].lane != first->lane) return 0;
        kernels = map_mix(kernels ^ p->t->name[p->list[i].row]);
    }
    uint32_t next = (uint32_t)p->graphs.n, *graph = map_at(&p->graphs, kernels);
    if (!graph) return ERR_NOMEM;
    if (*graph == MAP_NONE) *graph = next;
    for (size_t i = begin; i < end; i++)
        p->places[p->t->aux[p->list[i].row]] =
            (struct captured_place){*graph, (int64_t)(i - begin)};
    return 0;
}

static int graph_origin_places_place_all(struct placing *p)
{
    TRY(graph_origin_places_collect(p));
    if (p->n) qsort(p->list, p->n, sizeof *p->list, in_order);
    for (size_t begin = 0, end; begin < p->n; begin = end) {
        for (end = begin; end < p->n && p->list[end].launch == p->list[begin].launch;) end++;
        TRY(place_launch(p, begin, end));
    }
    return 0;
}

int graph_origin_places(struct context *cx, struct captured_place **ret)
{
    const struct trace *t = cx->t;
    struct placing p = {.t = t, .calls = calls_of(cx)};
    p.places = arena_alloc(cx->mem, (t->n_gpu + 1u) * sizeof *p.places);
    if (!p.places) return ERR_NOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++) p.places[i] = (struct captured_place){ID_NONE, ID_NONE};
    map_init(&p.graphs);
    int rc = graph_origin_places_place_all(&p);
    map_done(&p.graphs);
    mem_free(p.list);
    *ret = p.places;
    return rc;
}
