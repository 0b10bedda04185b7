/* flame.c: see flame.h. Every row gets its node once: the child of its parent's node with its name.
 */
#include "analyze/flame/flame.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/device/device_idle.h"
#include "analyze/device/thread_slices.h"
#include "analyze/device/timeline.h"
#include "analyze/names/frame.h"
#include "analyze/names/graph_origin.h"
#include "analyze/names/torch_words.h"
#include "analyze/waits/waits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

static const struct {
    const char *name, *words;
} kinds[FLAME_KINDS] = {
    [FLAME_GPU] = {"gpu", "GPU time by the stack that launched it"},
    [FLAME_CPU] = {"cpu", "CPU time by stack"},
    [FLAME_IDLE] = {"idle", "GPU idle time by what the CPU did meanwhile"},
    [FLAME_WAIT] = {"wait", "time the CPU waits for the GPU, by stack"},
};

const char *flame_name(enum flame_of of)
{
    return kinds[of].name;
}

const char *flame_words(enum flame_of of)
{
    return kinds[of].words;
}

bool flame_find(const char *name, enum flame_of *ret)
{
    for (int i = 0; i < FLAME_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return *ret = (enum flame_of)i, true;
    return false;
}

const char *flame_kind_name(enum flame_kind k)
{
    static const char *const names[] = {"python", "op", "label", "call", "work", "note"};
    return names[k];
}

/* ---- the tree */

struct making {
    const struct trace *t;
    struct arena *mem;
    struct err *e;
    struct map frame_of; /* by name and kind, or by id of a shortened name */
    struct intern short_names;
    struct map node_of; /* by parent and frame */
    uint32_t *rows;     /* node + 1 of each row; 0: not asked for yet */
    struct flame_frame *frames;
    size_t n_frames, cap_frames;
    struct flame_node *nodes;
    size_t n, cap;
};

static enum flame_kind flame_kind_of(enum row_kind k)
{
    if (kind_is_device(k)) return FLAME_WORK;
    switch (k) {
    case KIND_PYTHON: return FLAME_PYTHON;
    case KIND_OP: return FLAME_OP;
    case KIND_ANNOTATION: return FLAME_LABEL;
    default: return FLAME_CALL;
    }
}

static int flame_add_frame(struct making *m, uint64_t key, struct flame_frame f, uint32_t *ret)
{
    uint32_t *slot = map_at(&m->frame_of, key);
    if (!slot) return err_nomem(m->e);
    if (*slot == MAP_NONE) {
        if (VEC_RESERVE(m->frames, m->n_frames, m->cap_frames, 1)) return err_nomem(m->e);
        *slot = (uint32_t)m->n_frames;
        m->frames[m->n_frames++] = f;
    }
    *ret = *slot;
    return 0;
}

/* A frame by its text alone, which lives as long as the trace or the arena. */
static int text_frame(struct making *m, struct str text, enum flame_kind kind, uint32_t *ret)
{
    struct flame_frame f = {.name = text, .kind = kind};
    str_id id = intern_add(&m->short_names, text);
    if (id == STR_NONE) return err_nomem(m->e);
    return flame_add_frame(m, (uint64_t)1 << 63 | (uint64_t)id << 8 | kind, f, ret);
}

static int note_frame(struct making *m, const char *text, uint32_t *ret)
{
    return text_frame(m, str_c(text), FLAME_NOTE, ret);
}

/* Steps and modules are numbered in their names, built-in functions have an address: without it, so
 * that rounds, layers and objects share a frame. Empty for other names. */
static struct str without_number(struct str name)
{
    size_t n = name.n;
    long at = str_starts(name, "<built-in") ? str_find(name, " at 0x") : -1;
    if (at > 0) return str_from(name.p, (size_t)at);
    if (torch_is_step(name)) return str_c(TORCH_STEP);
    if (!str_starts(name, "nn.Module: ")) return str_from(NULL, 0);
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    return n && n < name.n && name.p[n - 1] == '_' ? str_from(name.p, n - 1) : str_from(NULL, 0);
}

static int row_frame(struct making *m, row_t r, uint32_t *ret)
{
    struct str name = trace_name(m->t, r);
    struct frame py;
    struct flame_frame f = {.name = name, .kind = flame_kind_of(m->t->kind[r])};
    struct str plain = without_number(name);
    if (plain.n) return text_frame(m, plain, f.kind, ret);
    if (f.kind == FLAME_PYTHON && frame_parse(name, &py))
        f = (struct flame_frame){py.function, frame_path(py.file), py.line, FLAME_PYTHON};
    return flame_add_frame(m, (uint64_t)m->t->name[r] << 8 | (uint64_t)f.kind, f, ret);
}

static int flame_child(struct making *m, uint32_t parent, uint32_t frame, uint32_t *ret)
{
    uint32_t *slot = map_at(&m->node_of, (uint64_t)parent << 32 | frame);
    if (!slot) return err_nomem(m->e);
    if (*slot == MAP_NONE) {
        if (VEC_RESERVE(m->nodes, m->n, m->cap, 1)) return err_nomem(m->e);
        *slot = (uint32_t)m->n;
        m->nodes[m->n++] = (struct flame_node){
            .parent = parent, .frame = frame, .depth = m->nodes[parent].depth + 1};
    }
    *ret = *slot;
    return 0;
}

static int note_child(struct making *m, uint32_t parent, const char *text, uint32_t *ret)
{
    uint32_t frame;
    TRY(note_frame(m, text, &frame));
    return flame_child(m, parent, frame, ret);
}

/* The node of row `r`, below `base`; ROW_NONE is `base` itself. */
static int row_node(struct making *m, row_t r, uint32_t base, uint32_t *ret)
{
    row_t path[TRACE_DEEPEST + 1];
    size_t n = 0;
    uint32_t node = base, frame;
    while (r != ROW_NONE && !m->rows[r] && n <= TRACE_DEEPEST) path[n++] = r, r = m->t->parent[r];
    if (r != ROW_NONE && m->rows[r]) node = m->rows[r] - 1;
    while (n > 0) {
        TRY(row_frame(m, path[--n], &frame));
        TRY(flame_child(m, node, frame, &node));
        m->rows[path[n]] = node + 1;
    }
    *ret = node;
    return 0;
}

static void add_time(struct making *m, uint32_t node, int64_t ns)
{
    if (ns <= 0) return;
    m->nodes[node].self_ns += ns;
    m->nodes[node].count++;
}

/* ---- what is added up */

static int flame_name_frame(struct making *m, struct str name, uint32_t *ret)
{
    struct frame py;
    struct str plain = without_number(name);
    if (plain.n || !frame_parse(name, &py))
        return text_frame(m, plain.n ? plain : name, FLAME_PYTHON, ret);
    struct flame_frame f = {py.function, frame_path(py.file), py.line, FLAME_PYTHON};
    str_id id = intern_add(&m->short_names, name);
    if (id == STR_NONE) return err_nomem(m->e);
    return flame_add_frame(m, (uint64_t)1 << 63 | (uint64_t)id << 8 | FLAME_PYTHON, f, ret);
}

/* Below the graph launch: what was captured. */
static int captured_node(struct making *m, const struct graph_origin_node *o, uint32_t *node)
{
    uint32_t frame;
    TRY(note_child(m, *node, "(captured)", node));
    for (uint32_t i = o->n > FLAME_CAPTURED ? o->n - FLAME_CAPTURED : 0; i < o->n; i++) {
        TRY(flame_name_frame(m, o->stack[i], &frame));
        TRY(flame_child(m, *node, frame, node));
    }
    if (!o->op.n) return 0;
    TRY(text_frame(m, o->op, FLAME_OP, &frame));
    return flame_child(m, *node, frame, node);
}

/* In place of what samples say was around the launch, where a unit in depth knows it. */
static int flame_deep_node(struct making *m, const struct graph_origin_node *o, row_t launch,
                           uint32_t *node)
{
    uint32_t frame;
    if (o->n) *node = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        TRY(flame_name_frame(m, o->stack[i], &frame));
        TRY(flame_child(m, *node, frame, node));
    }
    if (!o->op.n || trace_up(m->t, launch, KIND_OP) != ROW_NONE) return 0;
    TRY(text_frame(m, o->op, FLAME_OP, &frame));
    return flame_child(m, *node, frame, node);
}

static int flame_add_gpu(struct making *m, const struct graph_origins *captured)
{
    uint32_t node, frame;
    for (row_t r = 0; r < m->t->n_rows; r++) {
        if (!trace_is_work(m->t, r) || m->t->flags[r] & ROW_NO_TIME) continue;
        row_t launch = trace_launch_of(m->t, r);
        if (launch == ROW_NONE) TRY(note_child(m, 0, "(no launch recorded)", &node));
        else TRY(row_node(m, m->t->parent[launch], 0, &node));
        const struct graph_origin_node *o = graph_origin_find(captured, m->t, r);
        if (o && !o->deep) TRY(captured_node(m, o, &node));
        else if (o) TRY(flame_deep_node(m, o, launch, &node));
        TRY(row_frame(m, r, &frame));
        TRY(flame_child(m, node, frame, &node));
        add_time(m, node, m->t->dur_ns[r]);
    }
    return 0;
}

/* Threads that only wait in Python would drown those that work. */
static bool flame_works(const struct trace *t, const struct lane *l)
{
    for (row_t r = l->begin; r < l->end; r++)
        if (t->kind[r] == KIND_OP || trace_call(t, r)) return true;
    return false;
}

static const char *thread_words(struct making *m, const struct lane *l)
{
    if (l->name) return arena_printf(m->mem, STR_FMT, STR_ARG(trace_str(m->t, l->name)));
    return arena_printf(m->mem, "thread %lld", l->tid == ID_NONE ? 0LL : (long long)l->tid);
}

static int flame_add_thread(struct making *m, lane_id lane, uint32_t base)
{
    const struct lane *l = &m->t->lanes[lane];
    struct thread_slices slices;
    struct thread_slice s;
    uint32_t node;
    int64_t end_ns = INT64_MIN;
    for (row_t r = l->begin; r < l->end; r++)
        if (trace_end_ns(m->t, r) > end_ns) end_ns = trace_end_ns(m->t, r);
    thread_slices_init(&slices, m->t, lane, m->t->ts_ns[l->begin], end_ns);
    while (thread_slices_next(&slices, &s)) {
        if (s.row == ROW_NONE) continue;
        TRY(row_node(m, s.row, base, &node));
        add_time(m, node, s.end_ns - s.begin_ns);
    }
    return 0;
}

static int add_cpu(struct making *m)
{
    uint32_t base;
    bool any = false;
    for (lane_id i = 0; i < m->t->n_lanes; i++)
        any |= m->t->lanes[i].kind == LANE_THREAD && flame_works(m->t, &m->t->lanes[i]);
    for (lane_id i = 0; i < m->t->n_lanes; i++) {
        const struct lane *l = &m->t->lanes[i];
        if (l->kind != LANE_THREAD || l->begin == l->end || (any && !flame_works(m->t, l)))
            continue;
        const char *name = thread_words(m, l);
        if (!name) return err_nomem(m->e);
        TRY(note_child(m, 0, name, &base));
        TRY(flame_add_thread(m, i, base));
    }
    return 0;
}

/* A thread may drive many devices: what it does is examined once, and counts for as many of them as
 * wait for it at that moment. */
struct edge {
    int64_t ns;
    lane_id lane;
    int32_t change; /* +1: one more waits from here on */
};

struct edges {
    struct edge *list;
    size_t n, cap;
};

static int by_lane(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* What the CPU does is left for later; from its launch on it is the way to the device. */
static int add_gap(struct making *m, const struct idle_gap *g, struct edges *late)
{
    uint32_t node;
    lane_id lane = idle_gap_thread(m->t, g);
    if (lane == LANE_NONE) {
        TRY(note_child(m, 0, "(no launch recorded)", &node));
        add_time(m, node, idle_gap_ns(g));
        return 0;
    }
    TRY(row_node(m, m->t->parent[g->launch], 0, &node));
    TRY(note_child(m, node, "(from the launch to the GPU)", &node));
    add_time(m, node, g->end_ns - g->late_ns);
    if (g->late_ns <= g->begin_ns) return 0;
    if (VEC_RESERVE(late->list, late->n, late->cap, 2)) return err_nomem(m->e);
    late->list[late->n++] = (struct edge){g->begin_ns, lane, 1};
    late->list[late->n++] = (struct edge){g->late_ns, lane, -1};
    return 0;
}

static int add_slices(struct making *m, lane_id lane, int64_t from_ns, int64_t to_ns, int64_t times)
{
    struct thread_slices slices;
    struct thread_slice s;
    uint32_t node;
    thread_slices_init(&slices, m->t, lane, from_ns, to_ns);
    while (thread_slices_next(&slices, &s)) {
        if (s.row == ROW_NONE) TRY(note_child(m, 0, "(nothing recorded)", &node));
        else TRY(row_node(m, s.row, 0, &node));
        add_time(m, node, (s.end_ns - s.begin_ns) * times);
    }
    return 0;
}

static int add_late(struct making *m, struct edges *late)
{
    int64_t waiting = 0;
    if (late->n) qsort(late->list, late->n, sizeof *late->list, by_lane);
    for (size_t i = 0; i + 1 < late->n; i++) {
        const struct edge *e = &late->list[i];
        waiting += e->change;
        if (waiting > 0 && e[1].ns > e->ns) TRY(add_slices(m, e->lane, e->ns, e[1].ns, waiting));
    }
    return 0;
}

static int flame_add_idle(struct making *m, struct context *cx)
{
    struct edges late = {0};
    TRY(context_need(cx, &idle_pass, m->e));
    const struct idle_times *all = idle_of(cx);
    int rc = 0;
    for (uint32_t i = 0; i < all->n && rc == 0; i++)
        for (uint32_t k = 0; k < all->of[i].n_gaps && rc == 0; k++)
            rc = add_gap(m, &all->of[i].gaps[k], &late);
    if (rc == 0) rc = add_late(m, &late);
    mem_free(late.list);
    return rc;
}

static int add_waits(struct making *m, struct context *cx)
{
    uint32_t node;
    TRY(context_need(cx, &waits_pass, m->e));
    const struct waits *w = waits_of(cx);
    for (size_t i = 0; i < w->n; i++) {
        if (w->all[i].profiler) continue;
        TRY(row_node(m, w->all[i].call, 0, &node));
        add_time(m, node, w->all[i].blocked_ns);
    }
    return 0;
}

static int add_all(struct making *m, struct context *cx, enum flame_of of)
{
    if (VEC_RESERVE(m->nodes, m->n, m->cap, 1)) return err_nomem(m->e);
    m->nodes[m->n++] = (struct flame_node){0};
    switch (of) {
    case FLAME_GPU:
        TRY(context_need(cx, &graph_origin_pass, m->e));
        return flame_add_gpu(m, graph_origin_of(cx));
    case FLAME_CPU: return add_cpu(m);
    case FLAME_IDLE: return flame_add_idle(m, cx);
    default: return add_waits(m, cx);
    }
}

static int flame_keep(struct making *m, struct flame *ret)
{
    ret->frames = arena_alloc(m->mem, (m->n_frames + 1) * sizeof *ret->frames);
    ret->nodes = arena_alloc(m->mem, m->n * sizeof *ret->nodes);
    if (!ret->frames || !ret->nodes) return err_nomem(m->e);
    if (m->n_frames) memcpy(ret->frames, m->frames, m->n_frames * sizeof *ret->frames);
    memcpy(ret->nodes, m->nodes, m->n * sizeof *ret->nodes);
    ret->n_frames = (uint32_t)m->n_frames;
    ret->n = (uint32_t)m->n;
    for (uint32_t i = ret->n; i-- > 0;) {
        ret->nodes[i].total_ns += ret->nodes[i].self_ns;
        if (i) ret->nodes[ret->nodes[i].parent].total_ns += ret->nodes[i].total_ns;
    }
    return 0;
}

int flame_run(struct context *cx, enum flame_of of, struct arena *mem, struct flame *ret,
              struct err *e)
{
    struct making m = {.t = cx->t, .mem = mem, .e = e};
    *ret = (struct flame){.t = cx->t, .of = of};
    m.rows = mem_zalloc((size_t)cx->t->n_rows + 1, sizeof *m.rows);
    int rc = m.rows && !intern_init(&m.short_names) ? add_all(&m, cx, of) : err_nomem(e);
    if (rc == 0) rc = flame_keep(&m, ret);
    map_done(&m.frame_of);
    map_done(&m.node_of);
    intern_done(&m.short_names);
    mem_free(m.rows);
    mem_free(m.frames);
    mem_free(m.nodes);
    return rc;
}

uint32_t flame_stack(const struct flame *f, uint32_t node, uint32_t *ret)
{
    uint32_t n = f->nodes[node].depth;
    for (uint32_t i = n; i > 0; i--) {
        ret[i - 1] = f->nodes[node].frame;
        node = f->nodes[node].parent;
    }
    return n;
}
