/* stage_tree.c: one walk over the threads gives every row the innermost call open when it starts; a
 * second one finds a place for what autograd threads launched. Stages nest by their own times:
 * what else stands on a thread may cross them (ROW_CROSSES), so parents of rows cannot be used. */
#include "analyze/stages/stage_tree.h"

#include "analyze/names/label.h"
#include "analyze/names/torch_words.h"
#include "analyze/structure/outline.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"

enum {
    DEEPEST = 16,      /* levels of stages; deeper labels count for the level above */
    MOST_NODES = 4096, /* different paths; more would be no overview */
};

struct growing {
    const struct stage_tree_in *in;
    const struct trace *t;
    struct stage_tree *s;
    uint32_t next_part; /* of in->parts */
    struct map node_at; /* (parent, name, backward) -> node */
    struct map forward; /* autograd sequence number -> the forward op that starts last */
    struct map mirrors; /* call of a forward label -> its backward call */
};

static bool stage_tree_is_stage(const struct growing *g, row_t r)
{
    if (g->t->kind[r] != KIND_ANNOTATION) return false;
    if (g->in->parts && trace_is_derived(g->t, r)) return false;
    enum label_kind kind = label_kind(trace_name(g->t, r));
    return kind == LABEL_USER || (g->in->all && kind != LABEL_STEP);
}

/* *ret_node is STAGE_NONE when there are too many. `like` has its parent and name. */
static int stage_tree_find_node(struct growing *g, struct stage_node like, uint32_t *ret_node)
{
    struct stage_tree *s = g->s;
    uint64_t kind = (uint64_t)like.backward << 1 | like.derived;
    uint32_t *at =
        map_at(&g->node_at, map_mix(intern_hash(like.name) ^ (uint64_t)like.parent << 2 ^ kind));
    if (!at) return ERR_NOMEM;
    if (*at == MAP_NONE && s->n_nodes < MOST_NODES) {
        like.depth = like.parent == STAGE_NONE ? 0 : s->nodes[like.parent].depth + 1;
        s->nodes[s->n_nodes] = like;
        *at = s->n_nodes++;
    }
    *ret_node = *at == MAP_NONE ? STAGE_NONE : *at;
    return 0;
}

static uint32_t stage_tree_node_of(const struct stage_tree *s, uint32_t call)
{
    return call == STAGE_NONE ? STAGE_NONE : s->calls[call].node;
}

/* Opens a call under the call `at.parent`; *ret_call is that when there is no room. */
static int open_call(struct growing *g, struct stage_call at, struct stage_node like,
                     uint32_t *ret_call)
{
    struct stage_tree *s = g->s;
    *ret_call = at.parent;
    like.parent = stage_tree_node_of(s, at.parent);
    at.node = STAGE_NONE;
    if (like.parent == STAGE_NONE || s->nodes[like.parent].depth + 1 < DEEPEST)
        TRY(stage_tree_find_node(g, like, &at.node));
    if (at.node == STAGE_NONE) {
        s->n_overflowing++;
        return 0;
    }
    s->calls[s->n_calls] = at;
    *ret_call = s->n_calls++;
    return 0;
}

static int open_label(struct growing *g, row_t r, uint32_t parent, uint32_t *ret_call)
{
    const struct trace *t = g->t;
    enum label_kind kind = label_kind(trace_name(t, r));
    struct stage_call at = {t->ts_ns[r], trace_end_ns(t, r), t->lane[r], r, 0, parent};
    struct stage_node like = {.name = trace_name(t, r),
                              .user = kind == LABEL_USER && !trace_is_derived(t, r),
                              .derived = trace_is_derived(t, r),
                              .from = kind == LABEL_COMPILED ? ORIGIN_COMPILED : ORIGIN_LABELS};
    return open_call(g, at, like, ret_call);
}

/* Whether a label that a person wrote is open: what is derived has no place in it, nor in an
 * optimizer, where parameters would look like layers. */
static bool is_labelled(const struct stage_tree *s, uint32_t call)
{
    for (; call != STAGE_NONE; call = s->calls[call].parent) {
        const struct stage_node *n = &s->nodes[s->calls[call].node];
        if (n->user && (!label_is_automatic(n->name) || torch_is_optimizer(n->name))) return true;
    }
    return false;
}

static int open_part(struct growing *g, const struct stage_part *p, uint32_t parent,
                     uint32_t *ret_call)
{
    struct stage_call at = {p->begin_ns, p->end_ns, p->lane, p->row, 0, parent};
    struct stage_node like = {.name = p->name, .derived = true, .from = p->from};
    *ret_call = parent;
    return is_labelled(g->s, parent) ? 0 : open_call(g, at, like, ret_call);
}

static bool is_call_of(const struct stage_tree *s, uint32_t call, row_t r)
{
    return call != STAGE_NONE && s->calls[call].row == r;
}

static bool has_ended(const struct growing *g, uint32_t call, int64_t begin_ns, int64_t end_ns)
{
    int64_t end = g->s->calls[call].end_ns;
    return end <= begin_ns && end < end_ns;
}

/* The call that a stretch belongs to, of `open` and those around it: the innermost one that it does
 * not outlive, or that holds more than half of it (the rule by which rows nest,
 * trace/freeze_nest.c). */
static uint32_t call_around(const struct growing *g, uint32_t open, int64_t begin_ns,
                            int64_t end_ns)
{
    for (; open != STAGE_NONE; open = g->s->calls[open].parent) {
        int64_t open_end = g->s->calls[open].end_ns;
        if (end_ns <= open_end || open_end - begin_ns > (end_ns - begin_ns) / 2) break;
    }
    return open;
}

static uint32_t close_ended(const struct growing *g, uint32_t open, int64_t begin_ns,
                            int64_t end_ns)
{
    while (open != STAGE_NONE && has_ended(g, open, begin_ns, end_ns))
        open = g->s->calls[open].parent;
    return open;
}

/* The next part on this lane that begins before row `r`, or with it and around it; else NULL. */
static const struct stage_part *part_before(const struct growing *g, lane_id lane, row_t r)
{
    const struct stage_parts *all = g->in->parts;
    const struct stage_part *p = all && g->next_part < all->n ? &all->list[g->next_part] : NULL;
    if (!p || p->lane != lane) return NULL;
    if (r == g->t->lanes[lane].end || p->begin_ns < g->t->ts_ns[r] || p->row == r) return p;
    return p->begin_ns == g->t->ts_ns[r] && p->end_ns >= trace_end_ns(g->t, r) ? p : NULL;
}

/* Opens the parts that begin before row `r`; `open` is the innermost open call. */
static int open_parts(struct growing *g, lane_id lane, row_t r, uint32_t *open)
{
    const struct stage_part *p;
    while ((p = part_before(g, lane, r)) != NULL) {
        g->next_part++;
        *open = close_ended(g, *open, p->begin_ns, p->end_ns);
        uint32_t call = call_around(g, *open, p->begin_ns, p->end_ns);
        if (call == *open) TRY(open_part(g, p, call, open));
    }
    return 0;
}

/* `open` is the innermost open call. One that it crosses ends before it, so only `open` and those
 * around it need be known. */
static int own_lane(struct growing *g, lane_id lane)
{
    const struct trace *t = g->t;
    const struct lane *l = &t->lanes[lane];
    const struct stage_parts *parts = g->in->parts;
    uint32_t open = STAGE_NONE;
    while (parts && g->next_part < parts->n && parts->list[g->next_part].lane < lane)
        g->next_part++;
    for (row_t r = l->begin; r < l->end; r++) {
        TRY(open_parts(g, lane, r, &open));
        open = close_ended(g, open, t->ts_ns[r], trace_end_ns(t, r));
        uint32_t call = call_around(g, open, t->ts_ns[r], trace_end_ns(t, r));
        if (stage_tree_is_stage(g, r)) TRY(open_label(g, r, call, &call));
        if (is_call_of(g->s, call, r) && t->phase[r] == 'X') open = call;
        g->s->owner[r] = call;
    }
    return open_parts(g, lane, l->end, &open);
}

static int own_rows(struct growing *g)
{
    const struct trace *t = g->t;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        g->s->first_call[l] = g->s->n_calls;
        if (t->lanes[l].kind == LANE_THREAD) TRY(own_lane(g, l));
    }
    g->s->first_call[t->n_lanes] = g->s->n_calls;
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

static bool stage_tree_encloses(const struct stage_tree *s, uint32_t outer, uint32_t inner)
{
    if (outer == STAGE_NONE) return true;
    while (inner != STAGE_NONE && inner != outer) inner = s->calls[inner].parent;
    return inner == outer;
}

/* The call that backward work at `r` counts for. */
static int place_backward(struct growing *g, row_t r, row_t fwd, uint32_t *ret_call)
{
    struct stage_tree *s = g->s;
    uint32_t now = stage_tree_at(s, g->t->lane[fwd], g->t->ts_ns[r]);
    uint32_t then = s->owner[fwd];
    *ret_call = now;
    if (then == STAGE_NONE || then == now || !stage_tree_encloses(s, now, then)) return 0;
    uint32_t *mirror = map_at(&g->mirrors, then);
    if (!mirror) return ERR_NOMEM;
    if (*mirror == MAP_NONE) {
        uint32_t call;
        struct stage_call at = s->calls[then];
        struct stage_node like = s->nodes[at.node];
        at.parent = now;
        like.backward = true;
        TRY(open_call(g, at, like, &call));
        if (call == now) return 0;
        *mirror = call;
    }
    *ret_call = *mirror;
    return 0;
}

/* The one thread of the process of `lane` that has stages and is not autograd's: backward() is
 * called there, and waits. LANE_NONE when there are several, or none. */
static lane_id stage_tree_caller(const struct growing *g, lane_id lane)
{
    const struct trace *t = g->t;
    lane_id found = LANE_NONE;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        if (g->s->first_call[l] == g->s->first_call[l + 1] || l == lane) continue;
        if (t->lanes[l].process != t->lanes[lane].process) continue;
        if (outline_is_autograd(t, &t->lanes[l])) continue;
        if (found != LANE_NONE) return LANE_NONE;
        found = l;
    }
    return found;
}

static bool stage_tree_in_node(const struct trace *t, row_t r)
{
    while (r != ROW_NONE && !(t->kind[r] == KIND_OP && outline_is_node(trace_name(t, r))))
        r = t->parent[r];
    return r != ROW_NONE;
}

/* What the nodes of an autograd thread do, where the trace does not say of which forward operator
 * it is the backward: it counts for what is open on the thread that waits for it. */
static void stage_tree_own_engine(struct growing *g, lane_id lane)
{
    const struct trace *t = g->t;
    const struct lane *l = &t->lanes[lane];
    if (l->kind != LANE_THREAD || !outline_is_autograd(t, l)) return;
    lane_id caller = stage_tree_caller(g, lane);
    if (caller == LANE_NONE) return;
    for (row_t r = l->begin; r < l->end; r++)
        if (g->s->owner[r] == STAGE_NONE && (trace_call(t, r) || t->kind[r] == KIND_MEMORY) &&
            stage_tree_in_node(t, r))
            g->s->owner[r] = stage_tree_at(g->s, caller, t->ts_ns[r]);
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
    for (uint32_t l = 0; l < t->n_lanes; l++) stage_tree_own_engine(g, l);
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

static int stage_tree_grow(struct growing *g)
{
    TRY(own_rows(g));
    TRY(own_backward(g));
    return order_nodes(g->s);
}

static uint32_t stage_tree_count_stages(const struct growing *g)
{
    uint32_t n = 0;
    for (row_t r = 0; r < g->t->n_rows; r++) n += stage_tree_is_stage(g, r);
    return n;
}

int stage_tree_run(const struct stage_tree_in *in, struct arena *mem, struct stage_tree *ret,
                   struct err *e)
{
    const struct trace *t = in->t;
    struct stage_tree s = {0};
    struct growing g = {.in = in, .t = t, .s = &s};
    size_t n = stage_tree_count_stages(&g) + (in->parts ? in->parts->n : 0);
    s.nodes = arena_zalloc(mem, MOST_NODES, sizeof *s.nodes);
    s.calls = arena_zalloc(mem, 2 * n + 1, sizeof *s.calls); /* each may have a backward twin */
    s.owner = arena_alloc(mem, ((size_t)t->n_rows + 1) * sizeof *s.owner);
    s.first_call = arena_zalloc(mem, (size_t)t->n_lanes + 1, sizeof *s.first_call);
    if (!s.nodes || !s.calls || !s.owner || !s.first_call) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows; r++) s.owner[r] = STAGE_NONE;
    map_init(&g.node_at);
    map_init(&g.forward);
    map_init(&g.mirrors);
    int rc = stage_tree_grow(&g);
    map_done(&g.node_at);
    map_done(&g.forward);
    map_done(&g.mirrors);
    TRY(err_grow(e, rc));
    *ret = s;
    return 0;
}

uint32_t stage_tree_at(const struct stage_tree *s, lane_id lane, int64_t ts_ns)
{
    uint32_t first = s->first_call[lane], i = first;
    SEARCH_PAST(i, s->first_call[lane + 1], s->calls[i].begin_ns <= ts_ns);
    uint32_t call = i > first ? i - 1 : STAGE_NONE;
    while (call != STAGE_NONE && s->calls[call].end_ns <= ts_ns) call = s->calls[call].parent;
    return call;
}

const char *stage_tree_path(const struct stage_tree *s, uint32_t node, struct arena *mem)
{
    struct str parts[DEEPEST];
    int n = 0;
    bool backward = s->nodes[node].backward;
    for (; node != STAGE_NONE && n < DEEPEST; node = s->nodes[node].parent)
        parts[n++] = s->nodes[node].name;
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
