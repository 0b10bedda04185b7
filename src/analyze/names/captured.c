/* captured.c: see captured.h. What our own recordings say; the rest is in captured_calls.c. */
#include "analyze/names/captured_private.h"

#include "analyze/names/frame.h"
#include "base/jdoc.h"
#include "base/map.h"
#include "base/wrap.h"

struct captured_origin *captured_add(struct context *cx, struct captured *c)
{
    if (c->n_origins == c->cap_origins) {
        uint32_t cap = c->cap_origins ? c->cap_origins * 2 : 64;
        struct captured_origin *more = arena_alloc(cx->mem, cap * sizeof *more);
        if (!more) return NULL;
        if (c->n_origins) memcpy(more, c->origins, c->n_origins * sizeof *more);
        c->origins = more;
        c->cap_origins = cap;
    }
    struct captured_origin *o = &c->origins[c->n_origins++];
    *o = (struct captured_origin){.call = ROW_NONE};
    return o;
}

void captured_finish(struct captured_origin *o)
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

static bool add_name(struct captured_origin *o, struct str *stack, struct str name)
{
    if (name.n < 2) return false;
    struct str rest = str_from(name.p + 1, name.n - 1);
    if (name.p[0] == 'o') o->op = rest;
    else stack[o->n++] = rest;
    return true;
}

static int add_origin(struct context *cx, struct captured *c, const struct told *told,
                      const struct jdoc *path)
{
    struct captured_origin *o = captured_add(cx, c);
    uint32_t n = path->kind == JDOC_ARRAY ? path->n : 0;
    struct str *stack = arena_alloc(cx->mem, (n ? n : 1) * sizeof *stack);
    if (!o || !stack) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t name = index_below(&path->items[i], told->names->n);
        if (name < told->names->n && told->names->items[name].kind == JDOC_STRING)
            add_name(o, stack, told->names->items[name].text);
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

static void find_rows(const struct trace *t, const struct told *told, struct str whose,
                      struct captured *c)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!captured_has_node(t, r) || !is_of(t, r, whose)) continue;
        uint32_t origin = map_find(&told->by_node, (uint64_t)trace_gpu(t, r)->graph_node);
        if (origin != MAP_NONE) c->origin_of[t->aux[r]] = origin + 1;
    }
}

static int read_meta(struct context *cx, struct captured *c, struct str whose, struct str json)
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
        TRY(add_origin(cx, c, &told, &told.origins->items[i]));
    map_init(&told.by_node);
    rc = index_nodes(&told);
    if (rc == 0) find_rows(cx->t, &told, whose, c);
    map_done(&told.by_node);
    return rc;
}

static int read_metas(struct context *cx, struct captured *c)
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

const struct captured_origin *captured_origin(const struct captured *c, const struct trace *t,
                                              row_t r)
{
    bool known = trace_is_work(t, r) && t->aux[r] < t->n_gpu && c->origin_of[t->aux[r]];
    return known ? &c->origins[c->origin_of[t->aux[r]] - 1] : NULL;
}

static void add_up(const struct context *cx, struct captured *c)
{
    const struct trace *t = cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!captured_is_replayed(calls_of(cx), t, r)) continue;
        c->replayed_ns = wrap_add(c->replayed_ns, t->dur_ns[r]);
        const struct captured_origin *o = captured_origin(c, t, r);
        if (o && o->label.n) c->known_ns = wrap_add(c->known_ns, t->dur_ns[r]);
    }
}

/* By label: the first origin that has it. */
static int find_same(struct captured *c)
{
    struct intern labels;
    struct map first;
    map_init(&first);
    int rc = intern_init(&labels) ? ERR_NOMEM : 0;
    for (uint32_t i = 0; i < c->n_origins && rc == 0; i++) {
        str_id id = intern_add(&labels, c->origins[i].label);
        uint32_t *at = id == STR_NONE ? NULL : map_at(&first, id);
        if (!at) rc = ERR_NOMEM;
        else if (*at == MAP_NONE) *at = i;
        if (at) c->origins[i].same = *at;
    }
    map_done(&first);
    intern_done(&labels);
    return rc;
}

static bool any_replayed(const struct context *cx)
{
    for (row_t r = 0; r < cx->t->n_rows; r++)
        if (captured_is_replayed(calls_of(cx), cx->t, r)) return true;
    return false;
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    struct captured *c = ret;
    c->origin_of = arena_zalloc(cx->mem, cx->t->n_gpu + 1u, sizeof *c->origin_of);
    if (!c->origin_of) return err_nomem(e);
    if (!any_replayed(cx)) return 0;
    if (read_metas(cx, c) < 0) return err_nomem(e);
    if (!c->n_origins) TRY(captured_from_calls(cx, c, e));
    if (find_same(c) < 0) return err_nomem(e);
    add_up(cx, c);
    return 0;
}

static const struct pass *const needs[] = {&calls_pass, NULL};

const struct pass captured_pass = {
    .id = PASS_CAPTURED, .size = sizeof(struct captured), .needs = needs, .run = run_pass};
