/* outline.c: see outline.h. Items are gathered from the driving thread in one walk, joined by what
 * autograd's threads launch, sorted by time and nested by it. */
#include "analyze/structure/outline.h"

#include <stdlib.h>

#include "analyze/device/timeline.h"
#include "analyze/names/label.h"
#include "analyze/names/torch_words.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

struct drawing {
    const struct context *cx;
    const struct trace *t;
    struct outline *o;
    struct outline_item *items; /* growing */
    size_t n, cap;
    struct map tokens; /* hash of what is the same -> token */
    struct map known;  /* long names by address -> where their hash stands */
    uint64_t *hashes;
    size_t n_hashes, cap_hashes;
    uint8_t *region; /* by str_id: 0 not looked at, 1 no compiled region, 2 one */
    uint32_t n_linked;
    bool cpu_only; /* nothing ran on a device: operators stand for launches */
};

/* ---- tokens ---- */

/* A name may be long and stand for many rows: it is read once. */
static uint64_t outline_hash_once(struct drawing *d, struct str s)
{
    enum { SHORT = 64 };
    if (s.n <= SHORT) return intern_hash(s);
    uint32_t *at = map_at(&d->known, (uintptr_t)s.p ^ (uint64_t)s.n << 48);
    if (!at || VEC_RESERVE(d->hashes, d->n_hashes, d->cap_hashes, 1)) return intern_hash(s);
    if (*at == MAP_NONE) {
        *at = (uint32_t)d->n_hashes;
        d->hashes[d->n_hashes++] = intern_hash(s);
    }
    return d->hashes[*at];
}

static uint64_t outline_hash(struct drawing *d, struct str s, bool without_digits)
{
    return without_digits ? intern_hash_words(s) : outline_hash_once(d, s);
}

static int token_of(struct drawing *d, uint64_t key, uint32_t *ret)
{
    uint32_t *at = map_at(&d->tokens, key);
    if (!at) return ERR_NOMEM;
    if (*at == MAP_NONE) *at = d->o->n_tokens++;
    *ret = *at;
    return 0;
}

/* How autograd's engine writes the nodes it runs. */
static bool outline_is_backward(struct str op)
{
    return str_starts(op, "autograd::engine::evaluate_function");
}

static int outline_push(struct drawing *d, struct outline_item it, uint64_t key)
{
    if (VEC_RESERVE(d->items, d->n, d->cap, 1)) return ERR_NOMEM;
    TRY(token_of(d, map_mix(key ^ (uint64_t)it.from << 56), &it.token));
    d->items[d->n++] = it;
    return 0;
}

/* ---- calls ---- */

enum origin outline_derived_from(struct str name)
{
    bool capital = name.n && name.p[0] >= 'A' && name.p[0] <= 'Z';
    return capital && !label_says_call(name) ? ORIGIN_MODULES : ORIGIN_FUNCTIONS;
}

static struct outline_item item_of(const struct trace *t, row_t r, enum origin from)
{
    return (struct outline_item){.begin_ns = t->ts_ns[r],
                                 .end_ns = trace_end_ns(t, r),
                                 .exact = t->name[r],
                                 .row = r,
                                 .name = trace_name(t, r),
                                 .backward = outline_is_backward(trace_name(t, r)),
                                 .from = (uint8_t)from};
}

static int outline_add_frame(struct drawing *d, const struct frame_part *p)
{
    struct outline_item it = item_of(d->t, p->row, p->module ? ORIGIN_MODULES : ORIGIN_FUNCTIONS);
    it.name = p->name;
    return outline_push(d, it, outline_hash(d, p->name, false));
}

static int outline_add_label(struct drawing *d, row_t r)
{
    struct str name = trace_name(d->t, r);
    if (label_kind(name) != LABEL_USER) return 0;
    if (trace_is_derived(d->t, r))
        return outline_push(d, item_of(d->t, r, outline_derived_from(name)),
                            outline_hash(d, name, false));
    return outline_push(d, item_of(d->t, r, ORIGIN_LABELS),
                        outline_hash(d, name, label_says_round(name)));
}

static bool outline_is_region(struct drawing *d, row_t r)
{
    uint8_t kind = d->t->kind[r];
    if (kind != KIND_OP && kind != KIND_ANNOTATION) return false;
    uint8_t *known = &d->region[d->t->name[r]];
    if (!*known) *known = torch_is_compiler(trace_name(d->t, r)) ? 2 : 1;
    return *known == 2;
}

/* "Torch-Compiled Region: 0" of "Torch-Compiled Region: 0/3": recompiled, it is the same code. */
static struct str without_version(struct str name)
{
    size_t n = name.n;
    while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    return n > 0 && name.p[n - 1] == '/' ? str_from(name.p, n - 1) : name;
}

/* ---- leaves ---- */

static int64_t outline_device_ns(const struct trace *t, const row_t *rows, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; rows && i < n; i++)
        if (timeline_has(t, rows[i])) sum += t->dur_ns[rows[i]];
    return sum;
}

/* The outermost op around a call: that is where the CPU's work for it begins. */
static row_t outer_op(struct drawing *d, row_t r)
{
    const struct trace *t = d->t;
    row_t best = r;
    for (row_t up = t->parent[r]; up != ROW_NONE && t->kind[up] == KIND_OP; up = t->parent[up]) {
        if (outline_is_region(d, up)) break;
        best = up;
    }
    return best;
}

/* A leaf for a call that launches or waits; launches under one operator are one leaf. */
static int outline_add_call(struct drawing *d, row_t r, row_t *last_op)
{
    const struct trace *t = d->t;
    uint32_t n;
    const row_t *work = trace_launched(t, r, &n);
    enum call_kind kind = calls_kind(calls_of(d->cx), t, r);
    bool waits = call_waits(kind) && !(t->flags[r] & ROW_PROFILER);
    d->n_linked += n;
    if (!n && !waits) return 0;
    row_t op = outer_op(d, r);
    int64_t ns = outline_device_ns(t, work, n);
    if (op != r && op == *last_op) {
        d->items[d->n - 1].weight += ns;
        d->items[d->n - 1].launches += n > 0;
        d->items[d->n - 1].waits |= waits;
        return 0;
    }
    *last_op = op;
    struct outline_item it = item_of(t, op, op == r ? ORIGIN_KERNELS : ORIGIN_OPS);
    it.weight = ns;
    it.launches = n > 0;
    it.waits = waits;
    it.graph = kind == CALL_GRAPH_LAUNCH;
    if (op == r && n) it.name = trace_name(t, work[0]);
    uint64_t key = outline_hash(d, it.name, false);
    return outline_push(d, it, it.graph ? map_mix(key + n) : key);
}

bool outline_is_outer_op(const struct trace *t, row_t r)
{
    row_t up = t->parent[r];
    return t->kind[r] == KIND_OP && t->phase[r] == 'X' &&
           (up == ROW_NONE || t->kind[up] != KIND_OP);
}

/* A leaf for an operator that runs on the CPU. */
static int add_op(struct drawing *d, row_t r)
{
    if (!outline_is_outer_op(d->t, r) || outline_is_region(d, r)) return 0;
    struct outline_item it = item_of(d->t, r, ORIGIN_OPS);
    it.weight = d->t->dur_ns[r];
    return outline_push(d, it, outline_hash(d, it.name, false));
}

static int add_leaf(struct drawing *d, row_t r, row_t *last_op)
{
    if (d->cpu_only) return add_op(d, r);
    return trace_call(d->t, r) ? outline_add_call(d, r, last_op) : 0;
}

/* ---- threads ---- */

/* Before torch 1.8 a node was written as "AddBackward0", without the engine around it. */
bool outline_is_node(struct str op)
{
    if (op.n && op.p[op.n - 1] >= '0' && op.p[op.n - 1] <= '9') op.n--;
    return outline_is_backward(op) || str_ends(op, "Backward");
}

bool outline_is_autograd(const struct trace *t, const struct lane *l)
{
    for (row_t r = l->begin; r < l->end; r++)
        if (t->kind[r] == KIND_OP) return outline_is_node(trace_name(t, r));
    return false;
}

static int64_t outline_launched_ns(const struct trace *t, const struct lane *l)
{
    int64_t sum = 0;
    for (row_t r = l->begin; r < l->end; r++) {
        uint32_t n;
        const row_t *rows = trace_launched(t, r, &n);
        sum += outline_device_ns(t, rows, n) + n;
    }
    return sum;
}

static int64_t operators_ns(const struct trace *t, const struct lane *l)
{
    int64_t sum = 0;
    for (row_t r = l->begin; r < l->end; r++)
        if (outline_is_outer_op(t, r)) sum += t->dur_ns[r];
    return sum;
}

/* The thread that launches the most, autograd's aside: those work for another. */
static lane_id outline_find_driver(const struct trace *t, bool cpu_only)
{
    lane_id best = LANE_NONE;
    int64_t most = 0;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (lane->kind != LANE_THREAD || outline_is_autograd(t, lane)) continue;
        int64_t ns = cpu_only ? operators_ns(t, lane) : outline_launched_ns(t, lane);
        if (ns > most) most = ns, best = l;
    }
    return best;
}

static int outline_read_row(struct drawing *d, row_t r, int64_t *region_end, row_t *last_op)
{
    const struct trace *t = d->t;
    if (t->kind[r] == KIND_ANNOTATION && t->phase[r] == 'X') TRY(outline_add_label(d, r));
    if (t->ts_ns[r] >= *region_end && outline_is_region(d, r)) {
        *region_end = trace_end_ns(t, r);
        struct str name = without_version(trace_name(t, r));
        TRY(outline_push(d, item_of(t, r, ORIGIN_COMPILED), outline_hash(d, name, false)));
    }
    return add_leaf(d, r, last_op);
}

/* Calls and leaves of a thread; frames stand in a list of their own, by row. */
static int outline_read_thread(struct drawing *d, lane_id lane)
{
    const struct lane *l = &d->t->lanes[lane];
    const struct frame_parts *frames = &d->o->frames;
    int64_t region_end = INT64_MIN;
    row_t last_op = ROW_NONE;
    for (uint32_t i = 0; i < frames->n; i++)
        if (frames->list[i].row >= l->begin && frames->list[i].row < l->end)
            TRY(outline_add_frame(d, &frames->list[i]));
    for (row_t r = l->begin; r < l->end; r++) TRY(outline_read_row(d, r, &region_end, &last_op));
    return 0;
}

/* What autograd's threads of the same process launch. */
static int read_backward(struct drawing *d, lane_id driver)
{
    const struct trace *t = d->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (lane->kind != LANE_THREAD || l == driver || !outline_is_autograd(t, lane)) continue;
        if (lane->process != t->lanes[driver].process) continue;
        row_t last_op = ROW_NONE;
        for (row_t r = lane->begin; r < lane->end; r++) TRY(add_leaf(d, r, &last_op));
    }
    return 0;
}

static int read_devices(struct drawing *d)
{
    const struct timeline *tl = timeline_of(d->cx);
    for (uint32_t i = 0; i < tl->n_devices; i++)
        for (uint32_t k = 0; k < tl->devices[i].n_work; k++) {
            row_t r = tl->devices[i].work[k];
            struct outline_item it = item_of(d->t, r, ORIGIN_KERNELS);
            it.weight = d->t->dur_ns[r];
            TRY(outline_push(d, it, outline_hash(d, it.name, false)));
        }
    return 0;
}

/* ---- nesting ---- */

static int outline_by_time(const void *a, const void *b)
{
    const struct outline_item *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
    if (outline_is_leaf(x) != outline_is_leaf(y)) return outline_is_leaf(x) ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

static void outline_nest(struct outline_item *items, uint32_t n)
{
    uint32_t open = ITEM_NONE;
    for (uint32_t i = 0; i < n; i++) {
        struct outline_item *it = &items[i];
        while (open != ITEM_NONE && (items[open].end_ns <= it->begin_ns ||
                                     (!outline_is_leaf(it) && items[open].end_ns < it->end_ns))) {
            items[open].end = i;
            open = items[open].parent;
        }
        it->parent = open;
        it->end = i + 1;
        if (!outline_is_leaf(it)) open = i;
    }
    for (; open != ITEM_NONE; open = items[open].parent) items[open].end = n;
    for (uint32_t i = n; i-- > 0;)
        if (items[i].parent != ITEM_NONE) items[items[i].parent].weight += items[i].weight;
}

/* Calls that neither launch nor wait say nothing about the loop; those around them are kept. */
static int leave_out_idle(struct outline_item *items, uint32_t *n)
{
    uint32_t kept = 0;
    uint8_t *works = mem_zalloc((size_t)*n + 1, 1);
    if (!works) return ERR_NOMEM;
    for (uint32_t i = *n; i-- > 0;) {
        works[i] |= outline_is_leaf(&items[i]);
        if (works[i] && items[i].parent != ITEM_NONE) works[items[i].parent] = 1;
    }
    for (uint32_t i = 0; i < *n; i++) {
        if (!works[i]) continue;
        items[kept] = items[i];
        if (!outline_is_leaf(&items[kept])) items[kept].weight = 0;
        kept++;
    }
    *n = kept;
    mem_free(works);
    return 0;
}

static int outline_settle(struct drawing *d)
{
    struct outline *o = d->o;
    uint32_t n = (uint32_t)d->n;
    if (n) qsort(d->items, n, sizeof *d->items, outline_by_time);
    outline_nest(d->items, n);
    TRY(leave_out_idle(d->items, &n));
    outline_nest(d->items, n);
    o->items = arena_alloc(d->cx->mem, ((size_t)n + 1) * sizeof *o->items);
    if (!o->items) return ERR_NOMEM;
    if (n) memcpy(o->items, d->items, n * sizeof *o->items);
    o->n = n;
    return 0;
}

uint32_t outline_call_around(const struct outline *o, int64_t begin_ns, int64_t end_ns)
{
    uint32_t i = 0, best = ITEM_NONE;
    int64_t most = (end_ns - begin_ns) / 2 * 3;
    SEARCH_PAST(i, o->n, o->items[i].begin_ns < begin_ns);
    if (i == o->n) return ITEM_NONE;
    if (o->items[i].begin_ns > begin_ns) i = o->items[i].parent;
    for (; i != ITEM_NONE; i = o->items[i].parent) {
        const struct outline_item *it = &o->items[i];
        if (it->end_ns < end_ns) continue;
        if (it->end_ns - it->begin_ns > most) break;
        if (it->from == ORIGIN_MODULES || it->from == ORIGIN_FUNCTIONS) best = i;
    }
    return best;
}

/* ---- the pass ---- */

static uint32_t count_work(const struct timeline *tl)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tl->n_devices; i++) n += tl->devices[i].n_work;
    return n;
}

/* Launches where there are some, else the device's own records, else what the CPU does. */
static int outline_draw(struct drawing *d)
{
    uint32_t n_work = count_work(timeline_of(d->cx));
    d->cpu_only = n_work == 0;
    lane_id driver = outline_find_driver(d->t, d->cpu_only);
    if (driver != LANE_NONE) {
        TRY(outline_read_thread(d, driver));
        TRY(read_backward(d, driver));
    }
    if (d->n_linked * 2ull < n_work) {
        d->n = 0;
        d->o->on_device = true;
        TRY(read_devices(d));
    }
    d->o->lane = d->o->on_device ? LANE_NONE : driver;
    return outline_settle(d);
}

static int outline_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct drawing d = {.cx = cx, .t = cx->t, .o = ret};
    TRY(frame_parts_find(cx->t, places_of(cx), cx->mem, &d.o->frames, e));
    d.region = mem_zalloc((size_t)cx->t->strings.n + 1, 1);
    map_init(&d.tokens);
    int rc = d.region ? outline_draw(&d) : ERR_NOMEM;
    map_done(&d.tokens);
    map_done(&d.known);
    mem_free(d.hashes);
    mem_free(d.region);
    mem_free(d.items);
    return rc < 0 ? err_nomem(e) : 0;
}

static const struct pass *const needs[] = {&calls_pass, &places_pass, &timeline_pass, NULL};

const struct pass outline_pass = {
    .id = PASS_OUTLINE,
    .size = sizeof(struct outline),
    .needs = needs,
    .run = outline_run_pass,
};
