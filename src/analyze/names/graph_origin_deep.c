/* graph_origin_deep.c: origins of work that is like work of a unit in depth: what its twin has
 * there. A kernel of a backward pass has no Python stack of its own, and belongs to the line and
 * the module of the operator of the forward pass that it undoes. Where the same launch of two units
 * has another operator, module or line in each, the launch of no unit may have either. */
#include "analyze/deep/deep_match.h"
#include "analyze/names/frame.h"
#include "analyze/names/graph_origin_private.h"
#include "analyze/names/op_forward.h"

struct deep_origins {
    struct context *cx;
    struct graph_origins *out;
    const struct trace *deep;
    struct op_forward forward;
    struct map of; /* launch of the trace in depth -> origin */
};

static bool graph_origin_deep_is_frame(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_PYTHON;
}

/* The row of a function that holds the row of the line it is at: one of them is enough. */
static row_t graph_origin_deep_up(const struct trace *t, row_t r)
{
    bool line = t->flags[r] & ROW_LINE;
    r = t->parent[r];
    return line && r != ROW_NONE && graph_origin_deep_is_frame(t, r) ? t->parent[r] : r;
}

static int graph_origin_deep_stack(struct deep_origins *d, row_t r, struct graph_origin_node *o)
{
    const struct trace *t = d->deep;
    uint32_t n = 0;
    for (row_t i = r; i != ROW_NONE; i = graph_origin_deep_up(t, i))
        n += graph_origin_deep_is_frame(t, i);
    struct str *stack = arena_alloc(d->cx->mem, (n ? n : 1) * sizeof *stack);
    if (!stack) return ERR_NOMEM;
    o->stack = stack;
    o->n = n;
    for (row_t i = r; i != ROW_NONE; i = graph_origin_deep_up(t, i))
        if (graph_origin_deep_is_frame(t, i)) stack[--n] = trace_name(t, i);
    return 0;
}

static int graph_origin_deep_read(struct deep_origins *d, row_t call, struct graph_origin_node *o)
{
    const struct trace *t = d->deep;
    row_t op = trace_up(t, call, KIND_OP), forward = op_forward_near(&d->forward, t, call);
    TRY(graph_origin_deep_stack(d, forward != ROW_NONE ? forward : call, o));
    o->call = call;
    o->deep = true;
    if (op != ROW_NONE) o->op = trace_name(t, op);
    captured_finish(o);
    return 0;
}

static bool graph_origin_deep_same(struct str a, struct str b)
{
    return str_cmp(a, b) == 0;
}

/* Drops what the same launch of another unit does not share. */
static void graph_origin_deep_agree(struct graph_origin_node *o,
                                    const struct graph_origin_node *other)
{
    bool op = graph_origin_deep_same(o->op, other->op);
    bool module = graph_origin_deep_same(frame_module(o->module), frame_module(other->module));
    bool place = graph_origin_deep_same(o->place, other->place);
    uint32_t n = 0;
    if (!op) o->op = str_c("");
    if (!module) o->module = str_c("");
    if (!place) {
        while (n < o->n && n < other->n && graph_origin_deep_same(o->stack[n], other->stack[n]))
            n++;
        o->place = str_c("");
        o->n = n;
    }
    o->differs = !op || !module || !place;
    o->label = o->op.n ? o->op : o->module.n ? o->module : o->place;
}

/* UINT32_MAX when out of memory. */
static uint32_t graph_origin_deep_find(struct deep_origins *d, row_t twin)
{
    row_t call = trace_launch_of(d->deep, twin);
    row_t again = deep_match_other(deep_match_of(d->cx), twin);
    uint32_t *slot = map_at(&d->of, call);
    struct graph_origin_node other = {.call = ROW_NONE};
    if (!slot) return UINT32_MAX;
    if (*slot != MAP_NONE) return *slot;
    *slot = d->out->n_origins;
    struct graph_origin_node *o = captured_add(d->cx, d->out);
    if (!o || graph_origin_deep_read(d, call, o) < 0) return UINT32_MAX;
    if (again == ROW_NONE) return d->out->n_origins - 1;
    if (graph_origin_deep_read(d, trace_launch_of(d->deep, again), &other) < 0) return UINT32_MAX;
    graph_origin_deep_agree(o, &other);
    return d->out->n_origins - 1;
}

static int graph_origin_deep_fill(struct deep_origins *d)
{
    const struct trace *t = d->cx->t;
    const struct deep_match *m = deep_match_of(d->cx);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!trace_is_work(t, r) || t->aux[r] >= t->n_gpu || d->out->origin_of[t->aux[r]]) continue;
        row_t twin = deep_match_twin(m, t, r);
        if (twin == ROW_NONE) continue;
        uint32_t origin = graph_origin_deep_find(d, twin);
        if (origin == UINT32_MAX) return ERR_NOMEM;
        d->out->origin_of[t->aux[r]] = origin + 1;
    }
    return 0;
}

int captured_from_deep(struct context *cx, struct graph_origins *c, struct err *e)
{
    struct deep_origins d = {.cx = cx, .out = c, .deep = deep_match_of(cx)->deep};
    if (!d.deep) return 0;
    TRY(op_forward_init(&d.forward, d.deep, e));
    map_init(&d.of);
    int rc = graph_origin_deep_fill(&d);
    map_done(&d.of);
    op_forward_done(&d.forward);
    return rc < 0 ? err_nomem(e) : 0;
}
