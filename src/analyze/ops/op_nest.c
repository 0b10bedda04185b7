/* op_nest.c: see op_nest.h.
 *
 * torch counts a span and its only child once when both have the same name (a call that was seen
 * twice): the span stays, with the child's children and kernels. Whether a child is the only one
 * is known when its parent ends, so such a child waits in its parent's frame until then. */
#include "analyze/ops/op_nest.h"

#include "base/mem.h"
#include "base/vec.h"
#include "base/wrap.h"

#define DEEPEST 65536 /* spans nested deeper are counted, but have no children of their own */

struct op_span {
    row_t row;
    uint32_t group;
    uint32_t n_children;
    int64_t end_ns;
    uint32_t memory_from, memory_to;
    struct op_sums sums; /* self_* start as the whole and lose what children take */
    bool twin_waits;     /* the only child so far has the same name */
    uint32_t twin_group;
    row_t twin_row;
    struct op_sums twin;
};

void op_nest_init(struct op_nest *n, struct op_pass *pass)
{
    *n = (struct op_nest){.pass = pass};
    op_groups_init(&n->groups);
}

void op_nest_done(struct op_nest *n)
{
    op_groups_done(&n->groups);
    mem_free(n->stack);
}

static uint64_t flops_of(struct op_nest *n, row_t r, enum op_flops_kind kind)
{
    const struct op_info *op = trace_op(n->pass->t, r);
    if (!op) return 0;
    uint32_t slot = (op->dims * 31 + op->concrete * 7 + kind) % OP_FLOPS_KEPT;
    struct op_flops_kept *k = &n->kept[slot];
    if (k->kind == kind && k->dims == op->dims && k->concrete == op->concrete) return k->flops;
    *k = (struct op_flops_kept){op->dims, op->concrete, kind, op_flops(n->pass->t, r, kind)};
    return k->flops;
}

static void op_nest_add_call(struct op_nest *n, uint32_t group, row_t row, const struct op_sums *s)
{
    const struct trace *t = n->pass->t;
    op_groups_add(&n->groups, t, group, row, s);
    struct op_group *g = &n->groups.groups[group];
    if (g->flops_kind) g->flops += flops_of(n, row, g->flops_kind);
}

static void release_twin(struct op_nest *n, struct op_span *s)
{
    if (!s->twin_waits) return;
    s->twin_waits = false;
    op_nest_add_call(n, s->twin_group, s->twin_row, &s->twin);
}

/* The span takes over what its twin did: same children, and the twin's kernels for its own. */
static void absorb_twin(struct op_span *s)
{
    const struct op_sums *twin = &s->twin;
    struct op_sums *sums = &s->sums;
    s->twin_waits = false;
    sums->self_cpu_ns = wrap_sub(sums->cpu_ns, wrap_sub(twin->cpu_ns, twin->self_cpu_ns));
    sums->device_ns = twin->device_ns;
    sums->self_device_ns = twin->self_device_ns;
    sums->self_bytes.cpu =
        wrap_sub(sums->bytes.cpu, wrap_sub(twin->bytes.cpu, twin->self_bytes.cpu));
    sums->self_bytes.device =
        wrap_sub(sums->bytes.device, wrap_sub(twin->bytes.device, twin->self_bytes.device));
}

static void take_child(struct op_span *parent, const struct op_sums *child)
{
    struct op_sums *p = &parent->sums;
    p->self_cpu_ns = wrap_sub(p->self_cpu_ns, child->cpu_ns);
    p->device_ns = wrap_add(p->device_ns, child->device_ns);
    p->self_bytes.cpu = wrap_sub(p->self_bytes.cpu, child->bytes.cpu);
    p->self_bytes.device = wrap_sub(p->self_bytes.device, child->bytes.device);
}

static bool same_name(const struct op_nest *n, uint32_t a, uint32_t b)
{
    return n->groups.groups[a].name == n->groups.groups[b].name;
}

static void op_nest_leave(struct op_nest *n)
{
    struct op_span *s = &n->stack[--n->depth];
    if (s->twin_waits) absorb_twin(s);
    if (!n->depth) {
        op_memory_cover(n->memory, s->memory_from, s->memory_to);
        op_nest_add_call(n, s->group, s->row, &s->sums);
        return;
    }
    struct op_span *parent = s - 1;
    take_child(parent, &s->sums);
    if (parent->n_children == 1 && same_name(n, parent->group, s->group)) {
        parent->twin_waits = true;
        parent->twin_group = s->group;
        parent->twin_row = s->row;
        parent->twin = s->sums;
    } else {
        op_nest_add_call(n, s->group, s->row, &s->sums);
    }
}

static int64_t own_device_ns(const struct op_pass *p, row_t r)
{
    const struct trace *t = p->t;
    bool is_op = t->kind[r] == KIND_OP && t->aux[r] < t->n_ops;
    return is_op ? p->links.device_ns[t->aux[r]] : 0;
}

static void op_nest_fill_bytes(struct op_nest *n, struct op_span *s)
{
    const struct op_memory_line *m = n->memory;
    if (!m->n) return;
    n->memory_at = op_memory_at(m, n->memory_at, n->pass->t->ts_ns[s->row]);
    s->memory_from = n->memory_at;
    s->memory_to = op_memory_at(m, s->memory_from, wrap_add(s->end_ns, 1));
    s->sums.bytes = s->sums.self_bytes = op_memory_between(m, s->memory_from, s->memory_to);
}

/* The innermost `depth` Python frames at or above row `r`. */
static uint32_t stack_of(struct op_nest *n, row_t r)
{
    const struct trace *t = n->pass->t;
    uint32_t extra = 0;
    int left = n->pass->opts->stack_depth;
    for (; r != ROW_NONE && left > 0; r = t->parent[r]) {
        if (t->kind[r] != KIND_PYTHON) continue;
        extra = op_groups_stack(&n->groups, extra, t->name[r]);
        if (!extra) n->failed = true;
        left--;
    }
    return extra;
}

static uint32_t op_nest_module_of(const struct trace *t, row_t r)
{
    for (; r != ROW_NONE; r = t->parent[r])
        if (t->kind[r] == KIND_PYTHON && str_starts(trace_name(t, r), "nn.Module: "))
            return t->name[r] + 1;
    return 0;
}

/* The innermost row of the lane being added that lies around a guest, Python frames included. */
static row_t around_guest(const struct op_nest *n, row_t guest)
{
    const struct trace *t = n->pass->t;
    row_t r = trace_lower_bound(t, n->lane, wrap_add(t->ts_ns[guest], 1));
    if (r == t->lanes[n->lane].begin) return ROW_NONE;
    for (r--; r != ROW_NONE && trace_end_ns(t, r) < trace_end_ns(t, guest);) r = t->parent[r];
    return r;
}

/* The row whose frames are those of `r`: above it, above the call that launched it, or above the
 * forward operator when it belongs to the backward pass. */
static row_t row_above(const struct op_nest *n, row_t r)
{
    const struct trace *t = n->pass->t;
    bool is_device = kind_is_device(t->kind[r]);
    row_t from = is_device ? trace_launch_of(t, r) : r;
    row_t forward = from == ROW_NONE ? ROW_NONE : op_forward_of(&n->pass->forward, t, from);
    if (forward != ROW_NONE) return t->parent[forward];
    if (is_device) return from;
    return t->lane[r] == n->lane ? t->parent[r] : around_guest(n, r);
}

/* What tells rows of one name apart; 0 when nothing does. */
static uint32_t extra_of(struct op_nest *n, row_t r)
{
    const struct trace *t = n->pass->t;
    if (n->pass->opts->by == OP_BY_SHAPE) {
        const struct op_info *op = trace_op(t, r);
        return op && op->dims != STR_NONE ? op->dims + 1 : 0;
    }
    row_t from = row_above(n, r);
    return n->pass->opts->by == OP_BY_STACK ? stack_of(n, from) : op_nest_module_of(t, from);
}

static uint32_t op_nest_group_of(struct op_nest *n, row_t r, op_class class)
{
    const struct trace *t = n->pass->t;
    uint32_t extra = n->pass->opts->by == OP_BY_NAME ? 0 : extra_of(n, r);
    uint32_t group = op_groups_find(&n->groups, t, t->name[r], class, extra);
    if (group == UINT32_MAX) n->failed = true;
    return group;
}

static void op_nest_enter(struct op_nest *n, row_t r)
{
    const struct trace *t = n->pass->t;
    uint32_t group = op_nest_group_of(n, r, op_class_cpu(t->kind[r] == KIND_ANNOTATION));
    if (n->failed || n->groups.groups[group].skip) return;
    int64_t start = t->ts_ns[r], end = trace_end_ns(t, r);
    while (n->depth &&
           (start >= n->stack[n->depth - 1].end_ns || end > n->stack[n->depth - 1].end_ns))
        op_nest_leave(n);
    if (VEC_RESERVE(n->stack, n->depth, n->cap, 1)) {
        n->failed = true;
        return;
    }
    if (n->depth) {
        release_twin(n, &n->stack[n->depth - 1]);
        n->stack[n->depth - 1].n_children++;
    }
    struct op_span *s = &n->stack[n->depth++];
    *s = (struct op_span){.row = r, .group = group, .end_ns = end};
    s->sums.cpu_ns = s->sums.self_cpu_ns = t->dur_ns[r];
    s->sums.device_ns = s->sums.self_device_ns = own_device_ns(n->pass, r);
    op_nest_fill_bytes(n, s);
    if (n->depth == DEEPEST) op_nest_leave(n);
}

/* Rows of a thread that take part, guests among them, by start and longest first. */
struct feed {
    const struct op_pass *pass;
    row_t r, end;
    const struct op_guest *guest, *guest_end;
    uint64_t n_unfinished;
};

static bool takes_part(struct feed *f, row_t r)
{
    const struct trace *t = f->pass->t;
    switch (t->kind[r]) {
    case KIND_PYTHON:
        if (!f->pass->opts->python) return false;
        break;
    case KIND_RUNTIME:
    case KIND_DRIVER:
        if (t->aux[r] < t->n_calls && f->pass->links.away[t->aux[r]]) return false;
        break;
    case KIND_OP:
    case KIND_ANNOTATION:
    case KIND_OTHER:
    case KIND_OVERHEAD: break;
    default: return false;
    }
    if (t->phase[r] != 'X') return false;
    if (!(t->flags[r] & ROW_UNFINISHED)) return true;
    f->n_unfinished++;
    return false;
}

static bool guest_first(const struct feed *f)
{
    const struct trace *t = f->pass->t;
    row_t g = f->guest->row;
    if (f->r == f->end) return true;
    if (t->ts_ns[g] != t->ts_ns[f->r]) return t->ts_ns[g] < t->ts_ns[f->r];
    return t->dur_ns[g] > t->dur_ns[f->r];
}

static row_t feed_next(struct feed *f)
{
    while (f->r < f->end && !takes_part(f, f->r)) f->r++;
    if (f->guest < f->guest_end && guest_first(f)) return (f->guest++)->row;
    return f->r < f->end ? f->r++ : ROW_NONE;
}

static void op_nest_add_thread(struct op_nest *n, lane_id l)
{
    struct op_pass *p = n->pass;
    const struct lane *lane = &p->t->lanes[l];
    struct feed f = {
        .pass = p,
        .r = lane->begin,
        .end = lane->end,
        .guest = p->links.guests + p->links.first_guest[l],
        .guest_end = p->links.guests + p->links.first_guest[l + 1],
    };
    n->lane = l;
    n->memory = &p->memory.lines[lane->process];
    n->memory_at = 0;
    for (row_t r; !n->failed && (r = feed_next(&f)) != ROW_NONE;) op_nest_enter(n, r);
    while (n->depth) op_nest_leave(n);
    n->n_unfinished += f.n_unfinished;
}

static void op_nest_add_device(struct op_nest *n, lane_id l)
{
    const struct trace *t = n->pass->t;
    for (row_t r = t->lanes[l].begin; r < t->lanes[l].end && !n->failed; r++) {
        if (t->phase[r] != 'X') continue;
        uint32_t group = op_nest_group_of(n, r, op_class_of_row(t, r, n->pass->vendor));
        if (n->failed) return;
        int64_t ns = t->dur_ns[r];
        if (t->kind[r] == KIND_GPU_ANNOTATION && ns >= n->pass->annotation_excess_ns)
            ns -= n->pass->annotation_excess_ns;
        op_nest_add_call(n, group, r, &(struct op_sums){.device_ns = ns, .self_device_ns = ns});
    }
}

void op_nest_lane(struct op_nest *n, lane_id lane)
{
    switch (n->pass->t->lanes[lane].kind) {
    case LANE_THREAD:
    case LANE_OTHER: op_nest_add_thread(n, lane); break;
    case LANE_STREAM:
    case LANE_GPU_NOTE: op_nest_add_device(n, lane); break;
    case LANE_OVERHEAD: /* guests of the main thread */
    case LANE_COUNTER: break;
    }
}
