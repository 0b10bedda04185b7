/* stage_tree.c: one walk over the threads gives every row the innermost call open when it starts; a
 * second one finds a place for what autograd threads launched. Stages nest by their own times:
 * what else stands on a thread may cross them (ROW_CROSSES), so parents of rows cannot be used. */
#include "analyze/stages/stage_tree.h"

#include "analyze/names/label.h"
#include "base/map.h"
#include "base/mem.h"

enum {
    DEEPEST = 16,      /* levels of stages; deeper labels count for the level above */
    MOST_NODES = 4096, /* different paths; more would be no overview */
    MOST_CROSSING = 64,
};

struct growing {
    const struct trace *t;
    struct stage_tree *s;
    bool all;
    struct map node_at; /* (parent, name, backward) -> node */
    struct map forward; /* autograd sequence number -> the forward op that starts last */
    struct map mirrors; /* call of a forward label -> its backward call */
};

static bool is_stage(const struct growing *g, row_t r)
{
    if (g->t->kind[r] != KIND_ANNOTATION) return false;
    enum label_kind kind = label_kind(trace_name(g->t, r));
    return kind == LABEL_USER || (g->all && kind != LABEL_STEP);
}

/* *ret_node is STAGE_NONE when there are too many. */
static int find_node(struct growing *g, uint32_t parent, str_id name, bool backward,
                     uint32_t *ret_node)
{
    struct stage_tree *s = g->s;
    uint64_t key = ((uint64_t)parent << 33) ^ ((uint64_t)name << 1) ^ backward;
    uint32_t *at = map_at(&g->node_at, map_mix(key));
    if (!at) return ERR_NOMEM;
    if (*at == MAP_NONE && s->n_nodes < MOST_NODES) {
        uint32_t depth = parent == STAGE_NONE ? 0 : s->nodes[parent].depth + 1;
        bool user = label_kind(trace_str(g->t, name)) == LABEL_USER;
        s->nodes[s->n_nodes] = (struct stage_node){name, parent, depth, backward, user};
        *at = s->n_nodes++;
    }
    *ret_node = *at == MAP_NONE ? STAGE_NONE : *at;
    return 0;
}

static uint32_t node_of(const struct stage_tree *s, uint32_t call)
{
    return call == STAGE_NONE ? STAGE_NONE : s->calls[call].node;
}

/* Opens a call of the label under `parent`; *ret_call is `parent` when there is no room. */
static int open_call(struct growing *g, row_t label, uint32_t parent, bool backward,
                     uint32_t *ret_call)
{
    struct stage_tree *s = g->s;
    uint32_t up = node_of(s, parent), node = STAGE_NONE;
    *ret_call = parent;
    if (up == STAGE_NONE || s->nodes[up].depth + 1 < DEEPEST)
        TRY(find_node(g, up, g->t->name[label], backward, &node));
    if (node == STAGE_NONE) {
        s->n_overflowing++;
        return 0;
    }
    s->calls[s->n_calls] = (struct stage_call){label, node, parent};
    *ret_call = s->n_calls++;
    return 0;
}

static bool is_call_of(const struct stage_tree *s, uint32_t call, row_t r)
{
    return call != STAGE_NONE && s->calls[call].row == r;
}

static bool has_ended(const struct growing *g, uint32_t call, row_t r)
{
    int64_t end = trace_end_ns(g->t, g->s->calls[call].row);
    return end <= g->t->ts_ns[r] && end < trace_end_ns(g->t, r);
}

/* The call that `r` belongs to, of `open` and those around it: the innermost one that it does not
 * outlive, or that holds more than half of it (the rule by which rows nest, trace/freeze_nest.c).
 */
static uint32_t call_around(const struct growing *g, uint32_t open, row_t r)
{
    int64_t start = g->t->ts_ns[r], end = trace_end_ns(g->t, r);
    for (; open != STAGE_NONE; open = g->s->calls[open].parent) {
        int64_t open_end = trace_end_ns(g->t, g->s->calls[open].row);
        if (end <= open_end || open_end - start > (end - start) / 2) break;
    }
    return open;
}

/* `open` is the innermost open call. One that it crosses ends before it, so only `open` and those
 * around it need be known. */
static int own_lane(struct growing *g, const struct lane *l)
{
    uint32_t open = STAGE_NONE;
    for (row_t r = l->begin; r < l->end; r++) {
        while (open != STAGE_NONE && has_ended(g, open, r)) open = g->s->calls[open].parent;
        uint32_t call = call_around(g, open, r);
        if (is_stage(g, r)) TRY(open_call(g, r, call, false, &call));
        if (is_call_of(g->s, call, r) && g->t->phase[r] == 'X') open = call;
        g->s->owner[r] = call;
    }
    return 0;
}

static int own_rows(struct growing *g)
{
    const struct trace *t = g->t;
    for (uint32_t l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_THREAD) TRY(own_lane(g, &t->lanes[l]));
    return 0;
}

/* True when some op says it is the backward of a forward op: then the forward ops are indexed. */
static int index_forward_ops(struct growing *g, bool *ret_any)
{
    const struct trace *t = g->t;
    *ret_any = false;
    for (uint32_t i = 0; i < t->n_ops && !*ret_any; i++) *ret_any = t->ops[i].fwd_thread > 0;
    for (row_t r = 0; *ret_any && r < t->n_rows; r++) {
        const struct op_info *op = t->kind[r] == KIND_OP ? trace_op(t, r) : NULL;
        if (!op || op->fwd_thread != 0 || op->sequence < 0) continue;
        uint32_t *last = map_at(&g->forward, (uint64_t)op->sequence);
        if (!last) return ERR_NOMEM;
        if (*last == MAP_NONE || t->ts_ns[*last] <= t->ts_ns[r]) *last = r;
    }
    return 0;
}

/* The forward op of the backward op around `r`, or ROW_NONE. */
static row_t forward_of(const struct growing *g, row_t r)
{
    const struct trace *t = g->t;
    for (; r != ROW_NONE; r = t->parent[r]) {
        const struct op_info *op = t->kind[r] == KIND_OP ? trace_op(t, r) : NULL;
        if (!op || op->fwd_thread <= 0 || op->sequence < 0) continue;
        uint32_t fwd = map_find(&g->forward, (uint64_t)op->sequence);
        if (fwd != MAP_NONE) return fwd;
    }
    return ROW_NONE;
}

static bool encloses(const struct stage_tree *s, uint32_t outer, uint32_t inner)
{
    if (outer == STAGE_NONE) return true;
    while (inner != STAGE_NONE && inner != outer) inner = s->calls[inner].parent;
    return inner == outer;
}

/* The call that backward work at `r` counts for. */
static int place_backward(struct growing *g, row_t r, row_t fwd, uint32_t *ret_call)
{
    struct stage_tree *s = g->s;
    uint32_t now = stage_tree_at(g->t, s, g->t->lane[fwd], g->t->ts_ns[r]);
    uint32_t then = s->owner[fwd];
    *ret_call = now;
    if (then == STAGE_NONE || then == now || !encloses(s, now, then)) return 0;
    uint32_t *mirror = map_at(&g->mirrors, then);
    if (!mirror) return ERR_NOMEM;
    if (*mirror == MAP_NONE) {
        uint32_t call;
        TRY(open_call(g, s->calls[then].row, now, true, &call));
        if (call == now) return 0;
        *mirror = call;
    }
    *ret_call = *mirror;
    return 0;
}

static int own_backward(struct growing *g)
{
    const struct trace *t = g->t;
    bool any;
    TRY(index_forward_ops(g, &any));
    for (row_t r = 0; any && r < t->n_rows; r++) {
        if (t->lanes[t->lane[r]].kind != LANE_THREAD || g->s->owner[r] != STAGE_NONE) continue;
        row_t fwd = trace_call(t, r) || t->kind[r] == KIND_MEMORY ? forward_of(g, r) : ROW_NONE;
        if (fwd == ROW_NONE || t->lane[fwd] == t->lane[r]) continue;
        TRY(place_backward(g, r, fwd, &g->s->owner[r]));
    }
    return 0;
}

/* Which number each node gets when children follow their parent, in order of appearance; `links`
 * has room for two numbers a node, the last one being the parent of the outermost. */
static void number_nodes(const struct stage_tree *s, uint32_t *links, uint32_t *ret_number)
{
    uint32_t n = s->n_nodes, *child = links, *sibling = links + n + 1;
    for (uint32_t i = 0; i <= n; i++) child[i] = sibling[i] = STAGE_NONE;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t up = s->nodes[i].parent == STAGE_NONE ? n : s->nodes[i].parent;
        sibling[i] = child[up];
        child[up] = i;
    }
    uint32_t at = child[n], number = 0;
    while (at != STAGE_NONE) {
        ret_number[at] = number++;
        uint32_t next = child[at];
        while (next == STAGE_NONE && at != STAGE_NONE) {
            next = sibling[at];
            at = s->nodes[at].parent;
        }
        at = next;
    }
}

/* Nodes were made when they first appeared; readers go through them from top to bottom. */
static int order_nodes(struct stage_tree *s)
{
    uint32_t n = s->n_nodes;
    struct stage_node *old = mem_alloc(((size_t)n + 1) * sizeof *old);
    uint32_t *number = mem_alloc(3 * ((size_t)n + 1) * sizeof *number);
    if (old && number) {
        memcpy(old, s->nodes, n * sizeof *old);
        number_nodes(s, number + n + 1, number);
        for (uint32_t i = 0; i < n; i++) {
            struct stage_node *node = &s->nodes[number[i]];
            *node = old[i];
            if (node->parent != STAGE_NONE) node->parent = number[node->parent];
        }
        for (uint32_t c = 0; c < s->n_calls; c++) s->calls[c].node = number[s->calls[c].node];
    }
    int rc = old && number ? 0 : ERR_NOMEM;
    mem_free(old);
    mem_free(number);
    return rc;
}

static int grow(struct growing *g)
{
    TRY(own_rows(g));
    TRY(own_backward(g));
    return order_nodes(g->s);
}

static uint32_t count_stages(const struct growing *g)
{
    uint32_t n = 0;
    for (row_t r = 0; r < g->t->n_rows; r++) n += is_stage(g, r);
    return n;
}

int stage_tree_run(const struct trace *t, bool all, struct arena *mem, struct stage_tree *ret,
                   struct err *e)
{
    struct stage_tree s = {0};
    struct growing g = {.t = t, .s = &s, .all = all};
    size_t n = count_stages(&g);
    s.nodes = arena_zalloc(mem, MOST_NODES, sizeof *s.nodes);
    s.calls = arena_zalloc(mem, 2 * n + 1, sizeof *s.calls); /* each may have a backward twin */
    s.owner = arena_alloc(mem, ((size_t)t->n_rows + 1) * sizeof *s.owner);
    if (!s.nodes || !s.calls || !s.owner) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows; r++) s.owner[r] = STAGE_NONE;
    map_init(&g.node_at);
    map_init(&g.forward);
    map_init(&g.mirrors);
    int rc = grow(&g);
    map_done(&g.node_at);
    map_done(&g.forward);
    map_done(&g.mirrors);
    TRY(err_grow(e, rc));
    *ret = s;
    return 0;
}

/* A row that began in one call and mostly lies outside of it says nothing about that one. */
static bool outlives_its_call(const struct trace *t, const struct stage_tree *s, row_t r)
{
    return t->flags[r] & ROW_CROSSES && !is_call_of(s, s->owner[r], r);
}

uint32_t stage_tree_at(const struct trace *t, const struct stage_tree *s, lane_id lane,
                       int64_t ts_ns)
{
    row_t first = t->lanes[lane].begin, r = trace_lower_bound(t, lane, ts_ns + 1);
    if (r-- == first) return STAGE_NONE;
    for (int steps = 0; r > first && steps < MOST_CROSSING && outlives_its_call(t, s, r); steps++)
        r--;
    uint32_t call = s->owner[r];
    while (call != STAGE_NONE && trace_end_ns(t, s->calls[call].row) <= ts_ns)
        call = s->calls[call].parent;
    return call;
}

const char *stage_tree_path(const struct trace *t, const struct stage_tree *s, uint32_t node,
                            struct arena *mem)
{
    struct str parts[DEEPEST];
    int n = 0;
    bool backward = s->nodes[node].backward;
    for (; node != STAGE_NONE && n < DEEPEST; node = s->nodes[node].parent)
        parts[n++] = trace_str(t, s->nodes[node].name);
    struct buf path;
    buf_init(&path);
    while (n-- > 0) {
        buf_add_str(&path, parts[n]);
        if (n) buf_addc(&path, '/');
    }
    if (backward) buf_adds(&path, " (backward)");
    const char *copy = buf_ok(&path) ? arena_strdup(mem, buf_str(&path)) : NULL;
    buf_done(&path);
    return copy;
}
