/* colliding_adds.c: many rows that are added to a few by atomic additions, one number at a time:
 *
 *     aten::index_add_ [16, 256]   index [1048576]   source [1048576, 256]
 *
 * A product with one-hot rows, or sums over rows that are sorted first, go through the source at
 * the rate of the memory. Known by shapes, and by a time that is far above that. A conversion of
 * the source to float32 just before it goes, too: a product of half precision adds up in float32.
 */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/number_type.h"
#include "analyze/names/shapes.h"
#include "base/human.h"

/* Where the arguments of an operator that adds rows stand. */
static const struct colliding_args {
    const char *name;
    int index, source; /* the tensor that is added to is the first */
    int dim;           /* -1: the first dimension */
    int accumulates;   /* argument that must be True; -1: it always does */
    bool each;         /* an index for each number, not for each row */
} colliding_args[] = {
    {"aten::index_add_", 2, 3, 1, -1, false},        {"aten::index_add", 2, 3, 1, -1, false},
    {"aten::scatter_add_", 2, 3, 1, -1, true},       {"aten::scatter_add", 2, 3, 1, -1, true},
    {"aten::index_put_", -1, 2, -1, 3, false},       {"aten::index_put", -1, 2, -1, 3, false},
    {"aten::_index_put_impl_", -1, 2, -1, 3, false},
};

/* One call of such an operator. */
struct colliding_call {
    const struct trace *t;
    row_t op;
    double rows, width; /* of the destination; numbers in a row */
    double added;       /* rows of the source */
    double bytes;       /* of a number */
};

static const struct colliding_args *colliding_args_of(struct str name)
{
    for (size_t i = 0; i < sizeof colliding_args / sizeof *colliding_args; i++)
        if (str_is(name, colliding_args[i].name)) return &colliding_args[i];
    return NULL;
}

/* Whether the index of each number was made of one of each row, just before. */
static bool colliding_adds_expands(const struct trace *t, row_t op)
{
    lane_id lane = t->lane[op];
    int left = colliding_adds_reach_rows;
    for (row_t r = op; r > t->lanes[lane].begin && left > 0; left--)
        if (str_starts(trace_name(t, --r), "aten::expand")) return true;
    return false;
}

static bool colliding_adds_read(const struct trace *t, row_t op, const struct colliding_args *a,
                                struct colliding_call *ret)
{
    const struct op_info *info = trace_op(t, op);
    struct shape to, source;
    if (!info || info->dims == STR_NONE) return false;
    struct str none = str_c(""), dims = trace_str(t, info->dims);
    struct str types = info->types == STR_NONE ? none : trace_str(t, info->types);
    struct str values = info->concrete == STR_NONE ? none : trace_str(t, info->concrete);
    if (!shape_read(dims, 0, &to) || !shape_read(dims, a->source, &source)) return false;
    if (a->accumulates >= 0 && !str_is(shape_text(values, a->accumulates), "True")) return false;
    if (to.rank < 2 || source.rank < 2) return false;
    struct str dim = shape_text(values, a->dim < 0 ? 0 : a->dim);
    if (a->dim >= 0 && !str_is(dim, "0")) return false;
    struct str type = shape_text(types, a->source);
    double bytes = type.p ? number_bytes(number_type_of(type)) : 0;
    double rows = (double)to.dim[0], width = rows > 0 ? shape_elements(&to) / rows : 0;
    if (!(width > 0)) return false;
    *ret = (struct colliding_call){
        t, op, rows, width, shape_elements(&source) / width, bytes > 0 ? bytes : 4};
    return !a->each || colliding_adds_expands(t, op);
}

/* The operator that launched it, outermost; false where it adds no rows, or too few to each. */
static bool colliding_adds_call(const struct context *cx, row_t work, struct colliding_call *ret)
{
    struct work_op by = work_op_of(cx, work);
    bool found = false;
    row_t at = by.same ? by.op : ROW_NONE;
    for (int up = 0; up < SPARE_OP_LEVELS && at != ROW_NONE && by.t->kind[at] == KIND_OP;
         up++, at = by.t->parent[at]) {
        const struct colliding_args *a = colliding_args_of(trace_name(by.t, at));
        struct colliding_call c;
        if (!a || !colliding_adds_read(by.t, at, a, &c)) continue;
        *ret = c;
        found = true;
    }
    return found && ret->added >= colliding_adds_times * ret->rows;
}

/* Bytes that the cheaper of two ways moves: one-hot rows are filled, written, converted and read;
 * or indices are sorted, and rows copied in their order, then read. */
static double colliding_adds_bytes(const struct colliding_call *c, double source)
{
    double one_hot = source + colliding_adds_one_hot_bytes * c->added * c->rows;
    double sorted = 3 * source + colliding_adds_sorted_bytes * c->added;
    return one_hot < sorted ? one_hot : sorted;
}

/* What is converted to float32 just before item `i`: bytes of the narrower type; 0 where that is
 * not what item i - 1 does. */
static double colliding_adds_converted(const struct context *cx, uint32_t i,
                                       const struct colliding_call *c)
{
    const struct sequence *s = sequence_of(cx);
    if (i == 0 || s->items[i - 1].thread != s->items[i].thread) return 0;
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, s->items[i - 1].work);
    bool converts = k->from == ROOF_SHAPES && k->work.kind.class == OP_COPY &&
                    number_is_half(k->work.from) && k->work.type == NUMBER_F32;
    return converts && k->work.elements == c->added * c->width ? number_bytes(k->work.from) : 0;
}

/* Kernels [begin, end) of one call, and the conversion before them. */
static int colliding_adds_add(struct spare_search *x, const struct colliding_call *c,
                              uint32_t begin, uint32_t end, struct err *e)
{
    const struct context *cx = x->cx;
    const struct launched *items = sequence_of(cx)->items;
    const struct ceilings *best = &roofline_of(cx)->ceilings;
    double source = c->added * c->width * c->bytes, now = 0;
    for (uint32_t i = begin; i < end; i++) now += (double)cx->t->dur_ns[items[i].work];
    if (!(now > colliding_adds_slow_times * roofline_ns(best, PRECISIONS, 0, source))) return 0;
    double half = colliding_adds_converted(cx, begin, c);
    double bytes = half > 0 ? source / c->bytes * half : source;
    double then = roofline_ns(best, PRECISIONS, 0, colliding_adds_bytes(c, bytes));
    if (!(then < now)) return 0;
    if (half > 0) TRY(spare_drop(&x->spare, cx, items[begin - 1].work, e));
    for (uint32_t i = begin; i < end; i++) {
        double ns = (double)cx->t->dur_ns[items[i].work];
        TRY(kernel_fix_add(&x->spare.fix, cx, items[i].work, then / now * ns, e));
    }
    return 0;
}

int colliding_adds_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    struct colliding_call c, next, shown = {.rows = 0};
    uint32_t n = 0;
    for (uint32_t i = 0, end; i < s->n; i = end) {
        end = i + 1;
        if (!colliding_adds_call(x->cx, s->items[i].work, &c)) continue;
        while (end < s->n && s->items[end].thread == s->items[i].thread &&
               colliding_adds_call(x->cx, s->items[end].work, &next) && next.op == c.op)
            end++;
        uint32_t before = x->spare.fix.n;
        TRY(colliding_adds_add(x, &c, i, end, e));
        if (x->spare.fix.n == before) continue;
        if (c.added > shown.added) shown = c;
        n++;
    }
    x->why =
        rule_text(x->cx,
                  "%s times rows are added to a few others by atomic additions (up to %s rows "
                  "to %s), one number at a time: %s of GPU time, with what converts them.",
                  human_count(n).s, human_count(kernel_whole(shown.added)).s,
                  human_count(kernel_whole(shown.rows)).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
