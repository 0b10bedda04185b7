/* unused_gradients.c: gradients of weights that no optimizer updates: a frozen model whose weights
 * still ask for gradients.
 *
 *     backward    head   layer 12   layer 11  ...  layer 1          optimizer [head]
 *                      |<--------- for nothing --------->|
 *
 * Shapes of gradients (torch::autograd::AccumulateGrad) are searched among those that operators
 * of the optimizer work on. What runs backward after the last one of these is for nothing. A weight
 * of the same shape as one that is updated counts as updated, so rather too little is found. */
#include "analyze/deep/deep_match.h"
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/shapes.h"
#include "analyze/names/torch_words.h"
#include "base/human.h"

/* Different inputs of operators of the optimizer that are looked through. */
#define MOST_UPDATES 256

struct unused_gradients {
    const struct context *cx;
    const struct sequence *s;
    const struct trace *in;       /* that has operators: the trace, or what was recorded in depth */
    uint32_t n_units;             /* of it */
    str_id updates[MOST_UPDATES]; /* dimensions of inputs */
    uint32_t n_updates;
    uint32_t n_used, n_unused;
    double used, unused; /* elements */
    bool full;           /* there are more: nothing can be said */
};

static void unused_gradients_learn(struct unused_gradients *g)
{
    for (uint32_t i = 0; i < g->s->n; i++) {
        struct work_op by = work_op_of(g->cx, g->s->items[i].work);
        const struct op_info *op = by.t == g->in ? work_op_info(by) : NULL;
        if (!op || op->dims == STR_NONE || !torch_in_optimizer(by.t, by.work)) continue;
        uint32_t k = 0;
        while (k < g->n_updates && g->updates[k] != op->dims) k++;
        if (k < g->n_updates) continue;
        g->full |= g->n_updates == MOST_UPDATES;
        if (!g->full) g->updates[g->n_updates++] = op->dims;
    }
}

static bool unused_gradients_is_updated(const struct unused_gradients *g, const struct shape *s)
{
    for (uint32_t i = 0; i < g->n_updates; i++)
        if (shape_is_in(trace_str(g->in, g->updates[i]), s)) return true;
    return false;
}

/* The shape of the gradient that a row takes up; false where it takes none, or it is not known. */
static bool unused_gradients_shape(const struct trace *t, row_t r, struct shape *ret)
{
    if (t->kind[r] != KIND_OP || !str_is(trace_name(t, r), "torch::autograd::AccumulateGrad"))
        return false;
    const struct op_info *op = trace_op(t, r);
    return op && op->dims != STR_NONE && shape_read(trace_str(t, op->dims), 0, ret) &&
           ret->rank > 0;
}

static void unused_gradients_count(struct unused_gradients *g)
{
    const struct trace *t = g->in;
    struct shape s;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!unused_gradients_shape(t, r, &s)) continue;
        bool used = unused_gradients_is_updated(g, &s);
        double n = 1;
        for (int i = 0; i < s.rank; i++) n *= (double)s.dim[i];
        *(used ? &g->used : &g->unused) += n;
        *(used ? &g->n_used : &g->n_unused) += 1;
    }
}

/* When the last gradient of a thread that is used was there, in a span of time; its begin where
 * none is. */
static int64_t unused_gradients_last(const struct unused_gradients *g, lane_id lane, struct span in)
{
    const struct trace *t = g->in;
    int64_t last = in.begin_ns;
    struct shape s;
    for (row_t r = trace_lower_bound(t, lane, in.begin_ns);
         r < t->lanes[lane].end && t->ts_ns[r] < in.end_ns; r++)
        if (unused_gradients_shape(t, r, &s) && unused_gradients_is_updated(g, &s))
            last = trace_end_ns(t, r);
    return last;
}

/* Where the operators of a row of items stand: from the launch of the first one that is known to
 * the end of that of the last. */
struct unused_gradients_stretch {
    row_t first, last; /* launches; ROW_NONE where nothing is known */
};

static struct unused_gradients_stretch unused_gradients_operators(const struct unused_gradients *g,
                                                                  uint32_t begin, uint32_t end)
{
    struct unused_gradients_stretch in = {ROW_NONE, ROW_NONE};
    for (uint32_t i = begin; i < end; i++) {
        struct work_op by = work_op_of(g->cx, g->s->items[i].work);
        if (by.t != g->in || by.call == ROW_NONE) continue;
        if (in.first == ROW_NONE) in.first = by.call;
        in.last = by.call;
    }
    return in;
}

/* Whether it is one pass: work may be like work of several units in depth. */
static bool unused_gradients_is_one(const struct unused_gradients *g,
                                    struct unused_gradients_stretch in)
{
    const struct deep_match *d = deep_match_of(g->cx);
    if (in.first == ROW_NONE || in.last < in.first) return false;
    if (g->in->lane[in.first] != g->in->lane[in.last]) return false;
    return g->in != d->deep || deep_match_unit(d, in.first) == deep_match_unit(d, in.last);
}

/* The first of items [begin, end), one pass of one thread, that is launched after the last gradient
 * that is used; `end` where none is. */
static uint32_t unused_gradients_after(const struct unused_gradients *g, uint32_t begin,
                                       uint32_t end)
{
    const struct trace *t = g->in;
    struct unused_gradients_stretch in = unused_gradients_operators(g, begin, end);
    if (!unused_gradients_is_one(g, in)) return end;
    struct span time = {t->ts_ns[in.first], trace_end_ns(t, in.last)};
    int64_t last = unused_gradients_last(g, t->lane[in.first], time);
    uint32_t after = begin;
    for (uint32_t i = begin; i < end; i++) {
        struct work_op by = work_op_of(g->cx, g->s->items[i].work);
        if (by.t == t && by.call != ROW_NONE && t->ts_ns[by.call] < last) after = i + 1;
    }
    return after;
}

/* Items [begin, end) of one thread and unit, all launched by the backward pass. */
static int unused_gradients_cut(const struct unused_gradients *g, struct spare *spare,
                                uint32_t begin, uint32_t end, struct err *e)
{
    const struct launched *x = g->s->items;
    begin = unused_gradients_after(g, begin, end);
    for (uint32_t i = begin; i < end; i++) TRY(spare_drop(spare, g->cx, x[i].work, e));
    if (begin == end) return 0;
    return spare_cut(spare, g->cx, x[begin].thread,
                     spare_launching(g->cx, x[begin].call, x[end - 1].call), e);
}

static int unused_gradients_cut_all(const struct unused_gradients *g, struct spare *spare,
                                    struct err *e)
{
    const struct launched *x = g->s->items;
    for (uint32_t i = 0, end; i < g->s->n; i = end) {
        for (end = i; end < g->s->n && x[end].unit == x[i].unit && x[end].thread == x[i].thread &&
                      x[end].flags & LAUNCHED_BACKWARD;)
            end++;
        if (end > i) TRY(unused_gradients_cut(g, spare, i, end, e));
        end += end == i;
    }
    return 0;
}

int unused_gradients_find(struct spare_search *x, struct err *e)
{
    struct unused_gradients *g = arena_zalloc(x->cx->mem, 1, sizeof *g);
    if (!g) return err_nomem(e);
    g->cx = x->cx;
    g->s = sequence_of(x->cx);
    bool own = g->s->has_ops;
    g->in = own ? x->cx->t : x->cx->t->deep;
    g->n_units = own ? g->s->n_units : deep_match_of(x->cx)->n_units;
    if (!g->s->trains || !g->in || !g->n_units) return 0;
    unused_gradients_learn(g);
    if (g->full || !g->n_updates) return 0;
    unused_gradients_count(g);
    if (!g->n_used || g->n_unused < (uint32_t)unused_gradients_least ||
        g->unused < unused_gradients_times * g->used)
        return 0;
    TRY(unused_gradients_cut_all(g, &x->spare, e));
    x->why = rule_text(x->cx,
                       "Gradients are computed for %s weights that the optimizer does not update, "
                       "and for %s that it does: what the backward pass does after the last of "
                       "these is for nothing (%s of GPU time).",
                       human_count(g->n_unused / g->n_units).s,
                       human_count(g->n_used / g->n_units).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
