/* joined_items.c: see host_side.h. */
#include "analyze/findings/host_side.h"

#include <math.h>

#include "analyze/device/driving_calls.h"
#include "analyze/findings/findings_constants.h"
#include "analyze/kernels/occupancy.h"
#include "analyze/kernels/roofline.h"
#include "analyze/names/shapes.h"
#include "analyze/names/view_op.h"
#include "analyze/sequence/sequence.h"
#include "base/mem.h"
#include "base/vec.h"

/* An operator that launches, at its first item. */
struct joined_op {
    uint32_t item;
    str_id name;
};

struct joined_search {
    const struct context *cx;
    const struct sequence *s;
    struct joined_items *out;
    struct joined_op *ops; /* scratch */
    row_t *rows;
    int64_t *ns;
    struct sim_cut *spans;
    uint32_t n_rows, n_spans;
    size_t cap_spans;
};

/* Tensors of one shape that an operator joins; 0 where it does not. */
static uint32_t joined_items_joins(const struct trace *t, row_t r)
{
    struct str name = trace_name(t, r);
    double all, largest;
    if (t->kind[r] != KIND_OP || !(str_is(name, "aten::cat") || str_is(name, "aten::stack")))
        return 0;
    const struct op_info *op = trace_op(t, r);
    if (!op || op->dims == STR_NONE || !shape_list(trace_str(t, op->dims), 0, &all, &largest))
        return 0;
    double n = largest > 0 ? all / largest : 0;
    bool alike = n >= joined_items_least && n < 65536 && n == floor(n);
    return alike ? (uint32_t)n : 0;
}

/* How much longer a kernel takes with `n` times as much to do: nothing more as long as that fills
 * multiprocessors that were idle, and never less than its roof. */
static double joined_items_ns(const struct context *cx, row_t work, double n)
{
    const struct trace *t = cx->t;
    const struct gpu_info *g = trace_gpu(t, work);
    double now = (double)t->dur_ns[work], roof = roofline_row_ns(roofline_of(cx), t, work);
    const struct device *d = g ? occupancy_device(t, g->device) : NULL;
    struct occupancy o;
    if (isnan(roof) || !d || t->kind[work] != KIND_KERNEL || !occupancy_of(d, g, &o))
        return n * now;
    double blocks = (double)g->grid[0] * g->grid[1] * g->grid[2];
    double room = (double)o.blocks_per_sm * d->n_sms;
    if (!(blocks > 0) || !(room > 0)) return n * now;
    double full = blocks > room ? blocks / room : 1,
           then = n * blocks > room ? n * blocks / room : 1;
    double ns = now * then / full;
    return ns > n * roof ? ns : n * roof;
}

static row_t joined_items_outermost(const struct trace *t, row_t r)
{
    row_t top = r;
    for (; r != ROW_NONE; r = t->parent[r])
        if (t->kind[r] == KIND_OP) top = r;
    return top;
}

static int joined_items_cut(struct joined_search *x, uint32_t thread, struct span s, struct err *e)
{
    if (span_ns(s) <= 0) return 0;
    if (VEC_RESERVE(x->spans, x->n_spans, x->cap_spans, 1)) return err_nomem(e);
    x->spans[x->n_spans++] = (struct sim_cut){thread, s.begin_ns, s.end_ns, 0, true, 0};
    return 0;
}

/* Operators on the CPU stay: on all items at once they take as long. */
static int joined_items_cut_all(struct joined_search *x, lane_id lane, struct span s, struct err *e)
{
    const struct trace *t = x->cx->t;
    uint32_t thread = sim_thread_of(model_of(x->cx), lane);
    if (thread == SIM_NONE) return 0;
    for (row_t r = trace_lower_bound(t, lane, s.begin_ns);
         r < t->lanes[lane].end && t->ts_ns[r] < s.end_ns; r++) {
        bool stays = t->kind[r] == KIND_OP && t->dur_ns[r] >= joined_items_op_ns &&
                     !view_op_is(trace_name(t, r)) && !driving_calls_has(driving_of(x->cx), r);
        if (!stays || t->ts_ns[r] < s.begin_ns) continue;
        TRY(joined_items_cut(x, thread, (struct span){s.begin_ns, t->ts_ns[r]}, e));
        s.begin_ns = trace_end_ns(t, r);
    }
    return joined_items_cut(x, thread, s, e);
}

/* The operators of items [begin, end) that launch; 0 where one is not known. */
static uint32_t joined_items_ops(struct joined_search *x, uint32_t begin, uint32_t end)
{
    const struct launched *items = x->s->items;
    uint32_t n = 0;
    for (uint32_t i = begin; i < end; i++) {
        if (items[i].op == ROW_NONE) return 0;
        if (i > begin && items[i].op == items[i - 1].op) continue;
        x->ops[n++] = (struct joined_op){i, x->cx->t->name[items[i].op]};
    }
    return n;
}

/* Whether operators repeat after `period`. */
static bool joined_items_repeat(const struct joined_op *ops, uint32_t n, uint32_t period)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i + period < n; i++) same += ops[i].name == ops[i + period].name;
    return (double)same >= joined_items_share * (double)(n - period);
}

/* Items [begin, end) were launched before `n` tensors were joined by row `join`. */
static int joined_items_look(struct joined_search *x, uint32_t begin, uint32_t end, row_t join,
                             uint32_t n, struct err *e)
{
    const struct trace *t = x->cx->t;
    const struct launched *items = x->s->items;
    uint32_t n_ops = joined_items_ops(x, begin, end), period = n_ops / n;
    const struct joined_op *ops = x->ops + n_ops % n; /* what comes first is done once */
    if (period < (uint32_t)joined_items_ops_least || !joined_items_repeat(ops, period * n, period))
        return 0;
    uint32_t second = ops[period].item;
    for (uint32_t i = ops[0].item; i < second; i++) {
        x->rows[x->n_rows] = items[i].work;
        x->ns[x->n_rows++] = (int64_t)joined_items_ns(x->cx, items[i].work, n);
    }
    if (n > x->out->items) x->out->items = n;
    struct span others = {trace_end_ns(t, joined_items_outermost(t, items[second - 1].op)),
                          t->ts_ns[join]};
    return joined_items_cut_all(x, t->lane[join], others, e);
}

/* Items [begin, end) of one thread and unit, and what is joined up to `until_ns`. */
static int joined_items_read(struct joined_search *x, uint32_t begin, uint32_t end,
                             int64_t until_ns, struct err *e)
{
    const struct trace *t = x->cx->t;
    const struct launched *items = x->s->items;
    lane_id lane = items[begin].thread;
    for (row_t r = trace_lower_bound(t, lane, t->ts_ns[items[begin].call]);
         r < t->lanes[lane].end && t->ts_ns[r] < until_ns && begin < end; r++) {
        uint32_t n = joined_items_joins(t, r), at = begin;
        if (!n) continue;
        while (at < end && t->ts_ns[items[at].call] < t->ts_ns[r]) at++;
        if (at > begin) TRY(joined_items_look(x, begin, at, r, n, e));
        while (at < end && t->ts_ns[items[at].call] < trace_end_ns(t, r)) at++;
        begin = at;
    }
    return 0;
}

static int joined_items_read_all(struct joined_search *x, struct err *e)
{
    const struct launched *items = x->s->items;
    for (uint32_t i = 0, end; i < x->s->n; i = end) {
        for (end = i; end < x->s->n && items[end].unit == items[i].unit &&
                      items[end].thread == items[i].thread;)
            end++;
        bool goes_on = end < x->s->n && items[end].thread == items[i].thread;
        int64_t until = goes_on ? x->cx->t->ts_ns[items[end].call] : INT64_MAX;
        TRY(joined_items_read(x, i, end, until, e));
    }
    return 0;
}

/* The edits, in the memory of the analysis. */
static int joined_items_finish(struct joined_search *x, struct err *e)
{
    struct sim_cut *spans = arena_alloc(x->cx->mem, (x->n_spans + (size_t)1) * sizeof *spans);
    if (!spans) return err_nomem(e);
    if (x->n_spans) memcpy(spans, x->spans, x->n_spans * sizeof *spans);
    if (!x->n_spans) x->out->items = 0;
    x->out->edits[0] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = x->n_spans};
    x->out->edits[1] = (struct sim_edit){
        .kind = EDIT_SET_WORK, .rows = x->rows, .row_ns = x->ns, .n_rows = x->n_rows};
    return 0;
}

int joined_items_find(const struct context *cx, struct joined_items *ret, struct err *e)
{
    struct joined_search x = {.cx = cx, .s = sequence_of(cx), .out = ret};
    size_t room = x.s->n + (size_t)1;
    *ret = (struct joined_items){0};
    if (!x.s->has_ops || x.s->trains) return 0;
    x.ops = arena_alloc(cx->mem, room * sizeof *x.ops);
    x.rows = arena_alloc(cx->mem, room * sizeof *x.rows);
    x.ns = arena_alloc(cx->mem, room * sizeof *x.ns);
    if (!x.ops || !x.rows || !x.ns) return err_nomem(e);
    int rc = joined_items_read_all(&x, e);
    if (rc == 0) rc = joined_items_finish(&x, e);
    mem_free(x.spans);
    return rc;
}
