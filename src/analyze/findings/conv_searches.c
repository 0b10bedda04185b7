/* conv_searches.c: what torch.backends.cudnn.benchmark = True does where sizes change: cuDNN runs
 * every algorithm for each new size, with events around them, and then the fastest.
 *
 *     aten::cudnn_convolution [ launch wait  launch wait  launch wait ...  launch ]
 *
 * Once per size that is well spent: a first step is full of it. Where weights that were used
 * without a search are searched for again, new sizes come. What comes before the last launch of the
 * operator goes, but for the time it usually takes. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/names/shapes.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/stats.h"

/* Weights of different shapes that are distinguished. */
#define MOST_WEIGHTS 64

struct conv_searches {
    const struct context *cx;
    struct spare *spare;
    int64_t usual_ns; /* of an operator that does not search */
    int64_t ns;
    uint32_t n;       /* searches */
    uint32_t n_again; /* of them, for weights that had been used without one */
    struct {
        struct shape shape;
        bool plain; /* used without a search */
    } weights[MOST_WEIGHTS];
    uint32_t n_weights;
};

static bool conv_searches_is_op(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_OP && (str_starts(trace_name(t, r), "aten::cudnn_convolution") ||
                                     str_starts(trace_name(t, r), "aten::miopen_convolution"));
}

/* Waits for events below an operator. */
static uint32_t conv_searches_waits(const struct context *cx, row_t op)
{
    const struct trace *t = cx->t;
    int64_t end = trace_end_ns(t, op);
    uint32_t n = 0;
    for (row_t r = op + 1; r < t->lanes[t->lane[op]].end && t->ts_ns[r] < end; r++)
        n += calls_kind(calls_of(cx), t, r) == CALL_SYNC_EVENT;
    return n;
}

/* The entry of the weights of an operator; MOST_WEIGHTS where there is none. */
static uint32_t conv_searches_weight(struct conv_searches *c, row_t op)
{
    const struct op_info *info = trace_op(c->cx->t, op);
    struct shape s;
    if (!info || info->dims == STR_NONE || !shape_read(trace_str(c->cx->t, info->dims), 1, &s))
        return MOST_WEIGHTS;
    uint32_t i = 0;
    for (; i < c->n_weights; i++) {
        const struct shape *w = &c->weights[i].shape;
        if (w->rank == s.rank && !memcmp(w->dim, s.dim, (size_t)s.rank * sizeof *s.dim)) return i;
    }
    if (i == MOST_WEIGHTS) return i;
    c->weights[i].shape = s;
    c->weights[i].plain = false;
    return c->n_weights++;
}

static void conv_searches_note(struct conv_searches *c, row_t op, bool searches)
{
    uint32_t i = conv_searches_weight(c, op);
    if (i == MOST_WEIGHTS) return;
    c->n_again += searches && c->weights[i].plain;
    c->weights[i].plain |= !searches;
}

static int conv_searches_learn(struct conv_searches *c, struct err *e)
{
    const struct trace *t = c->cx->t;
    int64_t *ns = mem_alloc((t->n_ops + (size_t)1) * sizeof *ns);
    size_t n = 0;
    if (!ns) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows && n < t->n_ops; r++) {
        if (!conv_searches_is_op(t, r)) continue;
        uint32_t waits = conv_searches_waits(c->cx, r);
        if (!waits) ns[n++] = t->dur_ns[r];
        conv_searches_note(c, r, waits >= (uint32_t)conv_searches_waits_least);
    }
    stats_sort(ns, n);
    c->usual_ns = n ? stats_median(ns, n) : 0;
    mem_free(ns);
    return 0;
}

/* Items [begin, end) were launched by one operator that searches. */
static int conv_searches_cut(struct conv_searches *c, uint32_t begin, uint32_t end, struct err *e)
{
    const struct trace *t = c->cx->t;
    const struct launched *x = sequence_of(c->cx)->items;
    row_t op = x[begin].op;
    struct span gone = {t->ts_ns[op] + 1, t->ts_ns[x[end - 1].call] - c->usual_ns};
    c->n++;
    if (span_ns(gone) <= 0) return 0;
    c->ns += span_ns(gone);
    for (uint32_t i = begin; i + 1 < end; i++) TRY(spare_drop(c->spare, c->cx, x[i].work, e));
    return spare_cut(c->spare, c->cx, x[begin].thread, gone, e);
}

int conv_searches_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    const struct trace *t = x->cx->t;
    struct conv_searches c = {.cx = x->cx, .spare = &x->spare};
    if (!s->has_ops) return 0;
    TRY(conv_searches_learn(&c, e));
    for (uint32_t i = 0, end; i < s->n; i = end) {
        for (end = i + 1;
             end < s->n && s->items[i].op != ROW_NONE && s->items[end].op == s->items[i].op;)
            end++;
        row_t op = s->items[i].op;
        if (op != ROW_NONE && conv_searches_is_op(t, op) &&
            conv_searches_waits(x->cx, op) >= (uint32_t)conv_searches_waits_least)
            TRY(conv_searches_cut(&c, i, end, e));
    }
    if (c.n_again < (uint32_t)conv_searches_least) spare_search_drop(x);
    x->why = rule_text(x->cx,
                       "%s times cuDNN tries its algorithms for a convolution, each with a wait "
                       "(%s of CPU time): torch.backends.cudnn.benchmark searches for every new "
                       "size, and here new sizes keep coming.",
                       human_count(c.n).s, human_time(c.ns).s);
    return 0;
}
