/* sorted_for_few.c: rows that are sorted although only their first or last few are read:
 *
 *     aten::sort [2048, 65536]   aten::slice [2048, 65536] 0 to 32
 *
 * What is read is known by shapes: among the operators that follow on the same thread, none works
 * on a tensor of that shape but to take a few places along the sorted dimension, up to the next
 * tensor of that size that is made of others. Looking up single places (gather) reads as few as
 * there are indices. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/number_type.h"
#include "analyze/names/shapes.h"
#include "analyze/names/view_op.h"
#include "base/human.h"

/* One call of a sort. */
struct sorted_call {
    const struct trace *t;
    row_t op;
    char shape[128]; /* as written: "[2048, 65536]" */
    struct shape whole;
    int dim;
    double bytes; /* of a number */
};

/* What an operator that follows does with the sorted tensor. */
enum sorted_use { SORTED_UNUSED, SORTED_FEW, SORTED_READ, SORTED_REPLACED };

static bool sorted_for_few_is_sort(struct str name)
{
    return str_is(name, "aten::sort") || str_is(name, "aten::argsort") ||
           str_is(name, "aten::msort");
}

static bool sorted_for_few_looks_up(struct str name)
{
    return str_is(name, "aten::gather") || str_is(name, "aten::index") ||
           str_is(name, "aten::index_select") || str_is(name, "aten::take_along_dim");
}

/* A whole number of the arguments; `other` where it was left out, or is something else. */
static int64_t sorted_for_few_number(struct str concrete, int arg, int64_t other)
{
    struct str s = shape_text(concrete, arg);
    int64_t v = 0;
    size_t i = s.p && s.n && s.p[0] == '-';
    if (!s.p || i == s.n || s.n > 19) return other;
    bool minus = i > 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') return other;
        v = 10 * v + (s.p[i] - '0');
    }
    return minus ? -v : v;
}

/* sort(x, dim, descending), sort(x, stable, dim, descending); msort(x) sorts by the first one. */
static int sorted_for_few_dim(struct str name, struct str concrete, int rank)
{
    enum { LAST = -1, NO_NUMBER = INT16_MIN };
    int64_t dim = str_is(name, "aten::msort") ? 0 : LAST;
    if (dim) dim = sorted_for_few_number(concrete, 1, NO_NUMBER);
    if (dim == NO_NUMBER) dim = sorted_for_few_number(concrete, 2, LAST);
    if (dim < 0) dim += rank;
    return dim >= 0 && dim < rank ? (int)dim : rank - 1;
}

/* The sort that launched it, outermost; false where it is something else, or its shape is not
 * known. */
static bool sorted_for_few_call(const struct context *cx, row_t work, struct sorted_call *ret)
{
    struct work_op by = work_op_of(cx, work);
    row_t sort = ROW_NONE;
    row_t at = by.same ? by.op : ROW_NONE;
    for (int up = 0; up < SPARE_OP_LEVELS && at != ROW_NONE && by.t->kind[at] == KIND_OP;
         up++, at = by.t->parent[at])
        if (sorted_for_few_is_sort(trace_name(by.t, at))) sort = at;
    const struct op_info *op = sort == ROW_NONE ? NULL : trace_op(by.t, sort);
    if (!op || op->dims == STR_NONE || op->concrete == STR_NONE) return false;
    struct str dims = trace_str(by.t, op->dims);
    const char *end = dims.n > 2 ? memchr(dims.p, ']', dims.n) : NULL;
    *ret = (struct sorted_call){.t = by.t, .op = sort, .bytes = 4};
    if (!end || (size_t)(end - dims.p) >= sizeof ret->shape) return false;
    if (!shape_read(dims, 0, &ret->whole) || ret->whole.rank < 1) return false;
    memcpy(ret->shape, dims.p + 1, (size_t)(end - dims.p));
    ret->dim =
        sorted_for_few_dim(trace_name(by.t, sort), trace_str(by.t, op->concrete), ret->whole.rank);
    struct str types = op->types == STR_NONE ? str_c("") : trace_str(by.t, op->types);
    struct str type = shape_text(types, 0);
    double bytes = type.p ? number_bytes(number_type_of(type)) : 0;
    if (bytes > 0) ret->bytes = bytes;
    return true;
}

/* How many places along the sorted dimension a view takes from either end; all where it is along
 * another dimension, or takes every n-th. */
static int64_t sorted_for_few_taken(const struct sorted_call *c, struct str name,
                                    struct str concrete)
{
    enum { DIM = 1, FROM = 2, TO = 3, STEP = 4 };
    int64_t all = c->whole.dim[c->dim], dim = sorted_for_few_number(concrete, DIM, 0);
    if (dim < 0) dim += c->whole.rank;
    if (dim != c->dim || sorted_for_few_number(concrete, STEP, 1) != 1) return all;
    int64_t from = sorted_for_few_number(concrete, FROM, 0);
    int64_t to = sorted_for_few_number(concrete, TO, all);
    if (str_is(name, "aten::select")) to = from + 1;
    if (str_is(name, "aten::narrow")) to += from;
    if (from < 0) return -from < all ? -from : all;
    if (to < 0) to += all;
    return to > 0 && to < all ? to : all;
}

/* "[:]", of any dimension: the same tensor again. */
static bool sorted_for_few_is_whole(struct str concrete)
{
    enum { FROM = 2, TO = 3, STEP = 4 };
    return sorted_for_few_number(concrete, FROM, 0) == 0 &&
           sorted_for_few_number(concrete, TO, INT64_MAX) == INT64_MAX &&
           str_is(shape_text(concrete, STEP), "1");
}

static enum sorted_use sorted_for_few_use(const struct sorted_call *c, row_t r)
{
    const struct trace *t = c->t;
    struct str name = trace_name(t, r);
    const struct op_info *op = trace_op(t, r);
    if (!op || op->dims == STR_NONE) return SORTED_UNUSED;
    bool takes = str_find(trace_str(t, op->dims), c->shape) >= 0;
    struct op_work made;
    if (!takes) {
        bool known = !view_op_is(name) && op_work_of(t, r, &made);
        bool replaces = known && made.elements >= shape_elements(&c->whole);
        return replaces ? SORTED_REPLACED : SORTED_UNUSED;
    }
    if (sorted_for_few_is_sort(name)) return SORTED_REPLACED;
    if (sorted_for_few_looks_up(name)) return SORTED_UNUSED;
    bool takes_some =
        str_is(name, "aten::slice") || str_is(name, "aten::narrow") || str_is(name, "aten::select");
    if (!takes_some || op->concrete == STR_NONE) return SORTED_READ;
    if (sorted_for_few_is_whole(trace_str(t, op->concrete))) return SORTED_UNUSED;
    int64_t n = sorted_for_few_taken(c, name, trace_str(t, op->concrete));
    return n <= c->whole.dim[c->dim] / sorted_for_few_part ? SORTED_FEW : SORTED_READ;
}

/* Whether all that is done with it takes a few places. What stands inside an operator is seen as
 * that. */
static bool sorted_for_few_is_one(const struct sorted_call *c)
{
    const struct trace *t = c->t;
    lane_id lane = t->lane[c->op];
    int64_t at = trace_end_ns(t, c->op);
    bool few = false;
    int left = sorted_for_few_reach_ops;
    for (row_t r = trace_lower_bound(t, lane, at); r < t->lanes[lane].end && left > 0; r++) {
        if (t->kind[r] != KIND_OP || t->ts_ns[r] < at) continue;
        enum sorted_use use = sorted_for_few_use(c, r);
        if (use == SORTED_REPLACED) return few;
        if (use == SORTED_READ) return false;
        few |= use == SORTED_FEW;
        at = trace_end_ns(t, r);
        left--;
    }
    return few;
}

/* How long torch.topk takes on as many numbers: it finds a digit of two bits at a time. */
static double sorted_for_few_select_ns(const struct context *cx, const struct sorted_call *c)
{
    double bytes = shape_elements(&c->whole) * c->bytes;
    double passes = top_p_select_passes * c->bytes / 4;
    return passes * roofline_ns(&roofline_of(cx)->ceilings, PRECISIONS, 0, bytes);
}

/* Kernels [begin, end) of one sort: what selecting takes, shared among them by their time. */
static int sorted_for_few_add(struct spare_search *x, const struct sorted_call *c, uint32_t begin,
                              uint32_t end, struct err *e)
{
    const struct launched *items = sequence_of(x->cx)->items;
    double now = 0, then = sorted_for_few_select_ns(x->cx, c);
    for (uint32_t i = begin; i < end; i++) now += (double)x->cx->t->dur_ns[items[i].work];
    if (!(then < now)) return 0;
    for (uint32_t i = begin; i < end; i++) {
        double ns = (double)x->cx->t->dur_ns[items[i].work];
        TRY(kernel_fix_add(&x->spare.fix, x->cx, items[i].work, then / now * ns, e));
    }
    return 0;
}

int sorted_for_few_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    struct sorted_call last = {.op = ROW_NONE}, c;
    bool few = false;
    uint32_t n = 0;
    for (uint32_t i = 0, end; i < s->n; i = end) {
        end = i + 1;
        if (!work_words_has(x->words, &s->items[i], WORD_SORT)) continue;
        if (!sorted_for_few_call(x->cx, s->items[i].work, &c)) continue;
        struct sorted_call next;
        while (end < s->n && s->items[end].thread == s->items[i].thread &&
               work_words_has(x->words, &s->items[end], WORD_SORT) &&
               sorted_for_few_call(x->cx, s->items[end].work, &next) && next.op == c.op)
            end++;
        if (c.op != last.op || c.t != last.t) few = sorted_for_few_is_one(&c);
        last = c;
        if (few) TRY(sorted_for_few_add(x, &c, i, end, e));
        n += few;
    }
    x->why = rule_text(x->cx,
                       "%s times all of a tensor is sorted (%s of GPU time), and of the result "
                       "only the first or last few places are read.",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
