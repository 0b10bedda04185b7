/* sequence.c: see sequence.h. Items are gathered thread by thread; what one thread launches in one
 * unit is a group of them, and groups are then put in order. */
#include "analyze/sequence/sequence.h"

#include <stdlib.h>

#include "analyze/kernels/roofline.h"
#include "analyze/steps/steps.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

/* What a thread launches in a unit. */
struct sequence_group {
    uint32_t unit;
    int64_t ts_ns; /* of the first launch */
    uint32_t begin, n;
};

struct sequence_build {
    const struct context *cx;
    const struct trace *t;
    struct sequence *s;
    struct launched *items; /* by thread, time */
    uint32_t n;
    struct sequence_group *groups;
    size_t n_groups, cap_groups;
    struct map tokens; /* what is launched -> token */
    uint8_t *node;     /* by name: 1 + whether it is a node of autograd; 0: not looked at */
};

/* ---- threads of autograd ---- */

static bool sequence_is_node(struct sequence_build *b, row_t r)
{
    uint8_t *known = &b->node[b->t->name[r]];
    if (!*known) *known = outline_is_node(trace_name(b->t, r)) ? 2 : 1;
    return *known == 2;
}

/* Whether the thread launches kernels that compute gradients, and is not where the program began.
 * Without operators the names of kernels have to tell. */
static bool sequence_launches_backward(const struct trace *t, const struct lane *l)
{
    bool first = l->tid != ID_NONE && l->tid == t->processes[l->process].pid;
    for (row_t r = l->begin; r < l->end && !first; r++) {
        uint32_t n;
        const row_t *rows = trace_launched(t, r, &n);
        for (uint32_t i = 0; i < n; i++)
            if (t->kind[rows[i]] == KIND_KERNEL && kernel_is_backward(trace_name(t, rows[i])))
                return true;
    }
    return false;
}

static int sequence_find_autograd(struct sequence_build *b, struct err *e)
{
    const struct trace *t = b->t;
    b->s->autograd = arena_zalloc(b->cx->mem, t->n_lanes + (size_t)1, 1);
    if (!b->s->autograd) return err_nomem(e);
    for (lane_id l = 0; l < t->n_lanes; l++)
        b->s->autograd[l] =
            t->lanes[l].kind == LANE_THREAD &&
            (outline_is_autograd(t, &t->lanes[l]) || sequence_launches_backward(t, &t->lanes[l]));
    return 0;
}

/* ---- items ---- */

/* Is one of the operators around the launch a node of autograd, and does autograd take note of one
 * inside that? In a backward pass that is not differentiated itself it takes note of none. */
static uint8_t sequence_flags_of(struct sequence_build *b, row_t call)
{
    const struct trace *t = b->t;
    bool noted = false;
    for (row_t r = t->parent[call]; r != ROW_NONE; r = t->parent[r]) {
        if (t->kind[r] != KIND_OP) continue;
        if (sequence_is_node(b, r)) return LAUNCHED_BACKWARD | (noted ? LAUNCHED_AGAIN : 0);
        const struct op_info *op = trace_op(t, r);
        noted |= op && op->sequence != ID_NONE && op->fwd_thread == 0;
    }
    return b->s->autograd[t->lane[call]] ? LAUNCHED_BACKWARD : 0;
}

static uint64_t sequence_key(const struct trace *t, row_t work, row_t op)
{
    const struct gpu_info *g = trace_gpu(t, work);
    const struct op_info *o = op == ROW_NONE ? NULL : trace_op(t, op);
    uint64_t key = map_mix(t->name[work] ^ (uint64_t)t->kind[work] << 40);
    for (int i = 0; g && i < 3; i++)
        key = map_mix(key ^ ((uint64_t)g->grid[i] << 32 | g->block[i]));
    if (g) key = map_mix(key ^ (uint64_t)g->bytes);
    if (o) key = map_mix(key ^ ((uint64_t)t->name[op] << 32 | o->dims));
    return key;
}

static int sequence_add(struct sequence_build *b, uint32_t unit, uint8_t flags, row_t work)
{
    const struct trace *t = b->t;
    row_t op = roofline_owner(roofline_of(b->cx), t, work);
    uint32_t *token = map_at(&b->tokens, sequence_key(t, work, op));
    if (!token) return ERR_NOMEM;
    if (*token == MAP_NONE) *token = b->s->n_tokens++;
    b->s->has_ops |= op != ROW_NONE;
    row_t call = trace_launch_of(t, work);
    b->items[b->n++] = (struct launched){work, call, op, t->lane[call], *token, unit, flags};
    b->groups[b->n_groups - 1].n++;
    return 0;
}

static uint32_t sequence_unit_of(const struct sequence_build *b, row_t call)
{
    const struct steps *s = steps_of(b->cx);
    return s->n_steps ? steps_at(s, b->t->ts_ns[call]) : 0;
}

static int sequence_read_call(struct sequence_build *b, row_t call, bool first_of_thread)
{
    uint32_t n, unit = sequence_unit_of(b, call);
    const row_t *works = trace_launched(b->t, call, &n);
    if (!n) return 0;
    uint8_t flags = sequence_flags_of(b, call);
    b->s->trains |= (flags & LAUNCHED_BACKWARD) != 0;
    if (unit == UINT32_MAX) return 0;
    struct sequence_group *last = b->n_groups ? &b->groups[b->n_groups - 1] : NULL;
    if (!last || first_of_thread || last->unit != unit) {
        if (VEC_RESERVE(b->groups, b->n_groups, b->cap_groups, 1)) return ERR_NOMEM;
        b->groups[b->n_groups++] = (struct sequence_group){unit, b->t->ts_ns[call], b->n, 0};
    }
    for (uint32_t i = 0; i < n; i++)
        if (timeline_has(b->t, works[i])) TRY(sequence_add(b, unit, flags, works[i]));
    return 0;
}

static int sequence_read(struct sequence_build *b)
{
    const struct trace *t = b->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        size_t groups = b->n_groups;
        if (t->lanes[l].kind != LANE_THREAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++)
            if (trace_call(t, r)) TRY(sequence_read_call(b, r, b->n_groups == groups));
    }
    return 0;
}

/* ---- order ---- */

static int sequence_group_order(const void *a, const void *b)
{
    const struct sequence_group *x = a, *y = b;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void sequence_put_in_order(struct sequence_build *b)
{
    struct sequence *s = b->s;
    if (b->n_groups) qsort(b->groups, b->n_groups, sizeof *b->groups, sequence_group_order);
    uint32_t unit = 0;
    for (size_t g = 0; g < b->n_groups; g++) {
        const struct sequence_group *x = &b->groups[g];
        while (unit < x->unit) s->unit_begin[++unit] = s->n;
        memcpy(s->items + s->n, b->items + x->begin, x->n * sizeof *s->items);
        s->n += x->n;
    }
    while (unit < s->n_units) s->unit_begin[++unit] = s->n;
}

static int sequence_build(struct sequence_build *b, struct err *e)
{
    const struct trace *t = b->t;
    struct sequence *s = b->s;
    s->n_units = steps_of(b->cx)->n_steps ? steps_of(b->cx)->n_steps : 1;
    s->unit_begin = arena_zalloc(b->cx->mem, s->n_units + (size_t)1, sizeof *s->unit_begin);
    s->items = arena_alloc(b->cx->mem, (t->n_launched + (size_t)1) * sizeof *s->items);
    b->items = mem_alloc((t->n_launched + (size_t)1) * sizeof *b->items);
    b->node = mem_zalloc(t->strings.n + (size_t)1, 1);
    if (!s->unit_begin || !s->items || !b->items || !b->node) return err_nomem(e);
    TRY(sequence_find_autograd(b, e));
    if (sequence_read(b)) return err_nomem(e);
    sequence_put_in_order(b);
    return 0;
}

static int sequence_run(struct context *cx, void *ret, struct err *e)
{
    struct sequence_build b = {.cx = cx, .t = cx->t, .s = ret};
    map_init(&b.tokens);
    int rc = sequence_build(&b, e);
    map_done(&b.tokens);
    mem_free(b.items);
    mem_free(b.groups);
    mem_free(b.node);
    return rc;
}

static const struct pass *const needs[] = {&steps_pass, &roofline_pass, NULL};

const struct pass sequence_pass = {
    .id = PASS_SEQUENCE,
    .size = sizeof(struct sequence),
    .needs = needs,
    .run = sequence_run,
};
