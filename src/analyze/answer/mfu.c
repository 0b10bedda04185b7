/* mfu.c: see mfu.h. Kernels say which operators did something on the device; the innermost of
 * nested ones counts. */
#include "analyze/answer/mfu.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/answer/answer_constants.h"
#include "analyze/gaps/wall.h"
#include "analyze/kernels/kernels_constants.h"
#include "analyze/kernels/roofline.h"
#include "analyze/names/graph_origin.h"
#include "analyze/names/torch_words.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"

/* Operators of one name that were called with the same. */
struct mfu_work {
    double flop;
    enum precision precision;
};

struct mfu_builder {
    struct context *cx;
    const struct trace *t;
    struct map works; /* (name, shapes, types, numbers) -> work */
    struct mfu_work *all;
    size_t n, cap;
    uint8_t *state; /* by index into trace->ops: enum op_state */
    double flop[PRECISIONS + 1];
    double *by_step; /* by index into steps */
    double multiplying_ns, known_ns;
};

enum op_state { OP_IDLE, OP_WORKS, OP_COVERED };

static enum precision mfu_precision(enum number_type type)
{
    switch (type) {
    case NUMBER_F64: return FP64;
    case NUMBER_F32: return TF32;
    case NUMBER_F16:
    case NUMBER_BF16: return HALF;
    case NUMBER_F8: return FP8;
    case NUMBER_I8: return INT8;
    default: return PRECISIONS;
    }
}

/* Causal attention does half of it; FlopCounterMode does not look at that. */
static double mfu_as_counted(const struct op_work *w, double flops)
{
    return w->causal ? 2 * flops : flops;
}

static struct mfu_work mfu_examine(const struct trace *t, row_t op)
{
    struct op_work w;
    if (!op_work_of(t, op, &w) || !(w.flops > 0) || !isfinite(w.flops))
        return (struct mfu_work){0, PRECISIONS};
    bool multiplies = w.kind.class == OP_PRODUCT || w.kind.class == OP_CONVOLUTION ||
                      w.kind.class == OP_ATTENTION;
    return (struct mfu_work){multiplies ? mfu_as_counted(&w, w.flops) : 0, mfu_precision(w.type)};
}

/* NULL when out of memory. */
static const struct mfu_work *mfu_work_at(struct mfu_builder *b, row_t op)
{
    const struct op_info *o = trace_op(b->t, op);
    uint64_t key = map_mix((uint64_t)b->t->name[op] << 32 | (o ? o->dims : 0));
    if (o) key = map_mix(map_mix(key ^ o->types) ^ ((uint64_t)o->concrete << 16));
    uint32_t *slot = map_at(&b->works, key);
    if (!slot) return NULL;
    if (*slot == MAP_NONE) {
        if (VEC_RESERVE(b->all, b->n, b->cap, 1)) return NULL;
        *slot = (uint32_t)b->n;
        b->all[b->n++] = mfu_examine(b->t, op);
    }
    return &b->all[*slot];
}

/* The operator that says what a kernel multiplies: its own, or one around it. True when out of
 * memory. */
static bool mfu_find(struct mfu_builder *b, row_t op, row_t *ret)
{
    *ret = ROW_NONE;
    for (int up = 0; op != ROW_NONE && up < roofline_levels_up; op = b->t->parent[op], up++) {
        if (b->t->kind[op] != KIND_OP || b->t->aux[op] >= b->t->n_ops) continue;
        const struct mfu_work *w = mfu_work_at(b, op);
        if (!w) return true;
        if (!(w->flop > 0)) continue;
        *ret = op;
        return false;
    }
    return false;
}

static bool mfu_multiplies(const struct roof_kind *k, struct str name)
{
    bool family = k->family == FAMILY_GEMM || k->family == FAMILY_CONV ||
                  k->family == FAMILY_ATTENTION || torch_is_template(name);
    return !k->helper && (family || k->flops > 0);
}

static void mfu_add(struct mfu_builder *b, enum precision p, double flop, row_t launch)
{
    uint32_t step = steps_at(steps_of(b->cx), b->t->ts_ns[launch]);
    b->flop[p] += flop;
    if (step < steps_of(b->cx)->n_steps) b->by_step[step] += flop;
}

/* True when out of memory. */
static bool mfu_add_kernel(struct mfu_builder *b, row_t r)
{
    const struct roofline *f = roofline_of(b->cx);
    const struct roof_kind *k = roofline_kind(f, b->t, r);
    bool replayed = graph_origin_is_replayed(calls_of(b->cx), b->t, r);
    row_t op = ROW_NONE, launch = trace_launch_of(b->t, r);
    if (launch == ROW_NONE) launch = r;
    if (!mfu_multiplies(k, trace_name(b->t, r))) return false;
    if (!replayed && mfu_find(b, roofline_owner(f, b->t, r), &op)) return true;
    b->multiplying_ns += (double)b->t->dur_ns[r];
    if (op != ROW_NONE || k->flops > 0) b->known_ns += (double)b->t->dur_ns[r];
    if (op != ROW_NONE) b->state[b->t->aux[op]] = OP_WORKS;
    else if (k->flops > 0)
        mfu_add(b, k->precision == FP32 ? TF32 : k->precision,
                mfu_as_counted(&k->work, roofline_row_flops(f, b->t, r)), launch);
    return false;
}

/* True when out of memory. Without a device every operator with shapes works. */
static bool mfu_collect(struct mfu_builder *b)
{
    bool device = b->t->n_gpu > 0;
    for (row_t r = 0; r < b->t->n_rows; r++) {
        bool op = !device && b->t->kind[r] == KIND_OP && b->t->aux[r] < b->t->n_ops;
        if (op) {
            const struct mfu_work *w = mfu_work_at(b, r);
            if (!w) return true;
            if (w->flop > 0) b->state[b->t->aux[r]] = OP_WORKS;
        }
        bool kernel =
            b->t->kind[r] == KIND_KERNEL && b->t->aux[r] < b->t->n_gpu && b->t->dur_ns[r] > 0;
        if (kernel && mfu_add_kernel(b, r)) return true;
    }
    return false;
}

/* Children come after their parents. True when out of memory. */
static bool mfu_count_ops(struct mfu_builder *b)
{
    const struct trace *t = b->t;
    for (row_t r = t->n_rows; r-- > 0;) {
        if (t->kind[r] != KIND_OP || t->aux[r] >= t->n_ops || b->state[t->aux[r]] == OP_IDLE)
            continue;
        if (b->state[t->aux[r]] == OP_WORKS) {
            const struct mfu_work *w = mfu_work_at(b, r);
            if (!w) return true;
            mfu_add(b, w->precision, w->flop, r);
        }
        for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up]) {
            if (t->kind[up] != KIND_OP || t->aux[up] >= t->n_ops) continue;
            b->state[t->aux[up]] = OP_COVERED;
            break; /* which covers the next one */
        }
    }
    return false;
}

/* How long all of it takes at these rates; NaN where one that is needed is not known. */
static double mfu_ns_at(const struct mfu_builder *b,
                        double rate(const struct ceilings *, enum precision))
{
    double s = b->flop[PRECISIONS] > 0 ? NAN : 0;
    for (enum precision p = 0; p < PRECISIONS; p++)
        if (b->flop[p] > 0) s += b->flop[p] / rate(&roofline_of(b->cx)->ceilings, p);
    return s * 1e9;
}

static double mfu_reach(const struct ceilings *c, enum precision p)
{
    return p == TF32 && c->compute[TF32].from == CEILING_NONE ? c->compute[FP32].per_s
                                                              : c->compute[p].per_s;
}

static void mfu_rate(const struct mfu_builder *b, struct mfu *m)
{
    const struct wall *w = wall_of(b->cx);
    double ns = (double)w->plain.wall_ns;
    uint32_t devices = timeline_of(b->cx)->n_devices;
    m->per_s = ns > 0 ? m->flop / ns * 1e9 : NAN;
    if (!devices || w->abstains || w->bound == BOUND_UNKNOWN) return;
    double peak_ns = mfu_ns_at(b, ceilings_datasheet) / devices;
    double reach_ns = mfu_ns_at(b, mfu_reach) / devices;
    m->peak_per_s = m->flop / peak_ns * 1e9;
    m->reach_per_s = m->flop / reach_ns * 1e9;
    m->pct = 100 * peak_ns / ns;
    m->reach_pct = 100 * reach_ns / ns;
}

static int mfu_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of steps that are whole: one that the recording cut off has next to nothing. */
static void mfu_step(struct mfu_builder *b, struct mfu *m)
{
    uint32_t n = steps_of(b->cx)->n_steps;
    double sum = 0;
    qsort(b->by_step, n, sizeof *b->by_step, mfu_by_size);
    double least = n ? mfu_whole_share * b->by_step[n / 2] : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!(b->by_step[i] >= least) || !(b->by_step[i] > 0)) continue;
        sum += b->by_step[i];
        m->steps++;
    }
    m->step_flop = m->steps ? sum / m->steps : m->flop;
}

static void mfu_sum_up(struct mfu_builder *b, struct mfu *m)
{
    for (enum precision p = 0; p <= PRECISIONS; p++) {
        m->flop += b->flop[p];
        if (b->flop[p] > b->flop[m->precision]) m->precision = p;
    }
    mfu_step(b, m);
    if (b->multiplying_ns > 0) m->known_pct = stats_pct(b->known_ns, b->multiplying_ns);
    m->known = m->flop > 0 && !(m->known_pct < mfu_known_pct);
    if (m->known) mfu_rate(b, m);
}

static int mfu_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct mfu_builder b = {.cx = cx, .t = cx->t};
    struct mfu *m = ret;
    *m = (struct mfu){.known_pct = NAN,
                      .per_s = NAN,
                      .peak_per_s = NAN,
                      .reach_per_s = NAN,
                      .pct = NAN,
                      .reach_pct = NAN};
    b.by_step = mem_zalloc(steps_of(cx)->n_steps + (size_t)1, sizeof *b.by_step);
    b.state = mem_zalloc(cx->t->n_ops + (size_t)1, sizeof *b.state);
    map_init(&b.works);
    bool failed = !b.state || !b.by_step || mfu_collect(&b) || mfu_count_ops(&b);
    map_done(&b.works);
    mem_free(b.all);
    if (!failed) mfu_sum_up(&b, m);
    mem_free(b.by_step);
    mem_free(b.state);
    return failed ? err_nomem(e) : 0;
}

static const struct pass *const needs[] = {&roofline_pass, &steps_pass,    &wall_pass,
                                           &calls_pass,    &timeline_pass, NULL};

const struct pass mfu_pass = {
    .id = PASS_MFU,
    .size = sizeof(struct mfu),
    .needs = needs,
    .run = mfu_run_pass,
};
