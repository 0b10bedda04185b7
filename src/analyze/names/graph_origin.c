/* graph_origin.c: see graph_origin.h. What our own recordings say; the rest is in
 * graph_origin_calls.c. */
#include "analyze/names/graph_origin_private.h"

#include "analyze/deep/deep_match.h"
#include "analyze/names/frame.h"
#include "base/jdoc.h"
#include "base/map.h"
#include "base/wrap.h"

struct graph_origin_node *captured_add(struct context *cx, struct graph_origins *c)
{
    if (c->n_origins == c->cap_origins) {
        uint32_t cap = c->cap_origins ? c->cap_origins * 2 : 64;
        struct graph_origin_node *more = arena_alloc(cx->mem, cap * sizeof *more);
        if (!more) return NULL;
        if (c->n_origins) memcpy(more, c->origins, c->n_origins * sizeof *more);
        c->origins = more;
        c->cap_origins = cap;
    }
    struct graph_origin_node *o = &c->origins[c->n_origins++];
    *o = (struct graph_origin_node){.call = ROW_NONE};
    return o;
}

void captured_finish(struct graph_origin_node *o)
{
    bool users = false;
    for (uint32_t i = 0; i < o->n; i++) {
        enum frame_class class = frame_class(o->stack[i]);
        if (class == FRAME_MODULE) o->module = o->stack[i];
        if (class == FRAME_MODULE || class == FRAME_BUILTIN || class == FRAME_RECORDER) continue;
        if (class != FRAME_USER && users) continue;
        users |= class == FRAME_USER;
        o->place = o->stack[i];
    }
    o->label = o->op.n ? o->op : o->module.n ? o->module : o->place;
}

bool captured_has_node(const struct trace *t, row_t r)
{
    const struct gpu_info *g = trace_is_work(t, r) ? trace_gpu(t, r) : NULL;
    return g && g->graph_node != ID_NONE && g->graph_node != 0;
}

/* One meta: names, stacks of them, and nodes. */
struct told {
    const struct jdoc *names, *origins, *nodes;
    uint32_t first; /* of its origins */
    struct map by_node;
};

static bool is_array(const struct jdoc *d)
{
    return d && d->kind == JDOC_ARRAY;
}

/* A whole number below `end`; `end` for anything else. */
static uint32_t index_below(const struct jdoc *d, uint32_t end)
{
    bool fits = d->kind == JDOC_NUMBER && d->number >= 0 && d->number < (double)end;
    return fits ? (uint32_t)d->number : end;
}

static struct str graph_origin_field(struct str *rest)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] != '\t') n++;
    struct str field = str_from(rest->p, n);
    n += n < rest->n;
    *rest = str_from(rest->p + n, rest->n - n);
    return field;
}

static void graph_origin_add_inputs(struct graph_origin_node *o, struct str text)
{
    o->dims = graph_origin_field(&text);
    o->types = graph_origin_field(&text);
    o->concrete = graph_origin_field(&text);
}

static bool graph_origin_add_name(struct graph_origin_node *o, struct str *stack, struct str name)
{
    if (name.n < 2) return false;
    struct str rest = str_from(name.p + 1, name.n - 1);
    if (name.p[0] == 's') graph_origin_add_inputs(o, rest);
    else if (name.p[0] == 'o') o->op = rest;
    else stack[o->n++] = rest;
    return true;
}

static int graph_origin_add_origin(struct context *cx, struct graph_origins *c,
                                   const struct told *told, const struct jdoc *path)
{
    struct graph_origin_node *o = captured_add(cx, c);
    uint32_t n = path->kind == JDOC_ARRAY ? path->n : 0;
    struct str *stack = arena_alloc(cx->mem, (n ? n : 1) * sizeof *stack);
    if (!o || !stack) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t name = index_below(&path->items[i], told->names->n);
        if (name < told->names->n && told->names->items[name].kind == JDOC_STRING)
            graph_origin_add_name(o, stack, told->names->items[name].text);
    }
    o->stack = stack;
    captured_finish(o);
    return 0;
}

static int index_nodes(struct told *told)
{
    for (uint32_t i = 0; i + 2 < told->nodes->n; i += 3) {
        const struct jdoc *at = &told->nodes->items[i];
        uint32_t high = index_below(&at[0], UINT32_MAX), low = index_below(&at[1], UINT32_MAX);
        uint32_t origin = index_below(&at[2], told->origins->n);
        uint32_t *slot =
            origin < told->origins->n ? map_at(&told->by_node, (uint64_t)high << 32 | low) : NULL;
        if (!slot && origin < told->origins->n) return ERR_NOMEM;
        if (slot) *slot = told->first + origin;
    }
    return 0;
}

/* Devices of the process that the meta is about: all, or those whose names begin as said. */
static bool is_of(const struct trace *t, row_t r, struct str whose)
{
    const struct process *p = &t->processes[t->lanes[t->lane[r]].process];
    struct str text = p->pid == ID_NONE ? trace_str(t, p->pid_text) : str_from(NULL, 0);
    return !whose.n ||
           (text.n > whose.n && memcmp(text.p, whose.p, whose.n) == 0 && text.p[whose.n] == ' ');
}

static void graph_origin_find_rows(const struct trace *t, const struct told *told, struct str whose,
                                   struct graph_origins *c)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!captured_has_node(t, r) || !is_of(t, r, whose)) continue;
        uint32_t origin = map_find(&told->by_node, (uint64_t)trace_gpu(t, r)->graph_node);
        if (origin != MAP_NONE) c->origin_of[t->aux[r]] = origin + 1;
    }
}

static int read_meta(struct context *cx, struct graph_origins *c, struct str whose, struct str json)
{
    struct jdoc doc;
    struct err e;
    err_init(&e);
    int rc = jdoc_parse(json, cx->mem, &doc, &e);
    if (rc < 0) return rc == ERR_NOMEM ? rc : 0; /* not ours, whatever it is called */
    struct told told = {jdoc_get(&doc, "names"), jdoc_get(&doc, "origins"), jdoc_get(&doc, "nodes"),
                        c->n_origins};
    if (!is_array(told.names) || !is_array(told.origins) || !is_array(told.nodes)) return 0;
    for (uint32_t i = 0; i < told.origins->n; i++)
        TRY(graph_origin_add_origin(cx, c, &told, &told.origins->items[i]));
    map_init(&told.by_node);
    rc = index_nodes(&told);
    if (rc == 0) graph_origin_find_rows(cx->t, &told, whose, c);
    map_done(&told.by_node);
    return rc;
}

static int read_metas(struct context *cx, struct graph_origins *c)
{
    const struct trace *t = cx->t;
    size_t n = strlen(TRACE_META_CAPTURED);
    for (uint32_t i = 0; i < t->n_metas; i++) {
        struct str key = trace_str(t, t->metas[i].key);
        if (!str_starts(key, TRACE_META_CAPTURED)) continue;
        TRY(read_meta(cx, c, str_from(key.p + n, key.n - n), trace_str(t, t->metas[i].value)));
    }
    return 0;
}

const struct graph_origin_node *graph_origin_find(const struct graph_origins *c,
                                                  const struct trace *t, row_t r)
{
    bool known = trace_is_work(t, r) && t->aux[r] < t->n_gpu && c->origin_of[t->aux[r]];
    return known ? &c->origins[c->origin_of[t->aux[r]] - 1] : NULL;
}

static void graph_origin_add_up(const struct context *cx, struct graph_origins *c)
{
    const struct trace *t = cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!graph_origin_is_replayed(calls_of(cx), t, r)) continue;
        c->replayed_ns = wrap_add(c->replayed_ns, t->dur_ns[r]);
        const struct graph_origin_node *o = graph_origin_find(c, t, r);
        if (o && o->label.n) c->known_ns = wrap_add(c->known_ns, t->dur_ns[r]);
    }
}

/* The first origin with that key. */
static int graph_origin_first(struct map *first, uint64_t key, uint32_t i, uint32_t *ret)
{
    uint32_t *at = map_at(first, key);
    if (!at) return ERR_NOMEM;
    if (*at == MAP_NONE) *at = i;
    *ret = *at;
    return 0;
}

static int graph_origin_find_same(struct graph_origins *c, struct intern *texts, struct map *first)
{
    for (uint32_t i = 0; i < c->n_origins; i++) {
        struct graph_origin_node *o = &c->origins[i];
        str_id label = intern_add(texts, o->label), place = intern_add(texts, o->place);
        if (label == STR_NONE || place == STR_NONE) return ERR_NOMEM;
        TRY(graph_origin_first(first, label, i, &o->same));
        TRY(graph_origin_first(first, ((uint64_t)place + 1) << 32 | label, i, &o->where));
    }
    return 0;
}

/* By label, and by label and place: the first origin that has them. */
static int find_same(struct graph_origins *c)
{
    struct intern texts;
    struct map first;
    map_init(&first);
    int rc = intern_init(&texts) ? ERR_NOMEM : graph_origin_find_same(c, &texts, &first);
    map_done(&first);
    intern_done(&texts);
    return rc;
}

static bool any_replayed(const struct context *cx)
{
    for (row_t r = 0; r < cx->t->n_rows; r++)
        if (graph_origin_is_replayed(calls_of(cx), cx->t, r)) return true;
    return false;
}

static int graph_origin_of_graphs(struct context *cx, struct graph_origins *c, struct err *e)
{
    TRY(calls_init(&c->calls, c->made, cx->mem, e));
    if (read_metas(cx, c) < 0) return err_nomem(e);
    return c->n_origins ? 0 : captured_from_calls(cx, c, e);
}

static int graph_origin_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct graph_origins *c = ret;
    c->origin_of = arena_zalloc(cx->mem, cx->t->n_gpu + 1u, sizeof *c->origin_of);
    if (!c->origin_of) return err_nomem(e);
    c->made = cx->t->captures ? cx->t->captures : cx->t;
    if (any_replayed(cx)) TRY(graph_origin_of_graphs(cx, c, e));
    TRY(captured_from_deep(cx, c, e));
    if (find_same(c) < 0) return err_nomem(e);
    graph_origin_add_up(cx, c);
    return 0;
}

static const struct pass *const needs[] = {&calls_pass, &deep_match_pass, NULL};

const struct pass graph_origin_pass = {.id = PASS_CAPTURED,
                                       .size = sizeof(struct graph_origins),
                                       .needs = needs,
                                       .run = graph_origin_run_pass};
