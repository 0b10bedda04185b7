/* spare_products.c: products of matrices, and what prepares their inputs, as shapes show that they
 * could be less:
 *
 *     [A B] X         with few columns in X: A [B X] multiplies far less
 *     one_hot(i) W    copies rows of W
 *     (8-bit W) W'    a weight is brought to 16 bits, scaled, then multiplied: the same every time
 *     all rows of X W, of which what comes next reads a few: the last position of each sequence
 *
 * Only in traces in which nothing runs backward, and only with shapes. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/shapes.h"
#include "base/human.h"

static const struct roof_kind *spare_products_kind(const struct context *cx, uint32_t i)
{
    return roofline_kind(roofline_of(cx), cx->t, sequence_of(cx)->items[i].work);
}

/* The product of item `i`; NULL where it is something else, or its shape is not known. */
static const struct op_work *spare_products_at(const struct context *cx, uint32_t i)
{
    const struct sequence *s = sequence_of(cx);
    if (i >= s->n) return NULL;
    const struct roof_kind *k = spare_products_kind(cx, i);
    bool whole = k->family == FAMILY_GEMM && !k->helper && k->from == ROOF_SHAPES;
    return whole && k->work.m > 0 && k->work.n > 0 && k->work.k > 0 ? &k->work : NULL;
}

static bool spare_products_follows(const struct sequence *s, uint32_t i, uint32_t next)
{
    return next < s->n && s->items[next].thread == s->items[i].thread &&
           s->items[next].unit == s->items[i].unit;
}

/* How long a product of this size takes, at the rate of the one that is measured. */
static double spare_products_ns(const struct context *cx, uint32_t like, double m, double n,
                                double k)
{
    const struct op_work *w = spare_products_at(cx, like);
    const struct roof_kind *kind = spare_products_kind(cx, like);
    double size = w->elements > 0 ? w->written / w->elements : 2;
    double ns = roofline_ns(&roofline_of(cx)->ceilings, kind->precision, 2 * m * n * k,
                            size * (m * k + k * n + m * n));
    return ns > spare_products_least_ns ? ns : spare_products_least_ns;
}

/* ---- the order of two products ---- */

/* Whether the product after item `i` can only read the result of that, not its input: of two layers
 * beside each other (queries and keys, a layer and its adapter) the second has the same input as
 * the first. Input and result have to differ in width: where they do not, shapes do not say which
 * of them is read. */
static bool spare_products_is_chain(const struct context *cx, uint32_t i)
{
    const struct op_work *a = spare_products_at(cx, i), *b = spare_products_at(cx, i + 1);
    return b->m == a->m && b->k == a->n && a->k != a->n;
}

static bool spare_products_has_epilogue(const struct context *cx, uint32_t i)
{
    return str_has(work_op_name(work_op_of(cx, sequence_of(cx)->items[i].work)), "activation");
}

/* Items `i` and `i` + 1 as [m, k] [k, n] and [m, n] [n, p]: true where the other order pays. */
static bool spare_products_is_dearer(const struct context *cx, uint32_t i, double ret_ns[2])
{
    const struct sequence *s = sequence_of(cx);
    const struct op_work *a = spare_products_at(cx, i), *b = spare_products_at(cx, i + 1);
    if (!a || !b || !spare_products_follows(s, i, i + 1) || a->batch > 1 || b->batch > 1)
        return false;
    if (!spare_products_is_chain(cx, i) || spare_products_has_epilogue(cx, i)) return false;
    double now = a->m * a->n * a->k + b->m * b->n * b->k;
    double then = a->k * a->n * b->n + a->m * a->k * b->n;
    ret_ns[0] = spare_products_ns(cx, i, a->k, b->n, a->n);
    ret_ns[1] = spare_products_ns(cx, i + 1, a->m, b->n, a->k);
    return then < spare_products_order_share * now;
}

int product_order_find(struct spare_search *x, struct err *e)
{
    const struct context *cx = x->cx;
    const struct sequence *s = sequence_of(cx);
    uint32_t n = 0;
    double ns[2];
    for (uint32_t i = 0; i + 1 < s->n && !s->trains; i++) {
        if (!spare_products_is_dearer(cx, i, ns)) continue;
        for (uint32_t k = 0; k < 2; k++)
            TRY(kernel_fix_add(&x->spare.fix, cx, s->items[i + k].work, ns[k], e));
        n++;
        i++;
    }
    x->why = rule_text(cx,
                       "%s times two large matrices are multiplied with each other, and then with "
                       "a small one (%s of GPU time). The other order has far less to multiply.",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}

/* ---- one-hot vectors ---- */

/* The product that reads the `elements` that begin at item `i`; what comes between only converts
 * them. The number of items up to it, 0 where there is none. */
static uint32_t spare_products_reader(const struct context *cx, uint32_t i, double elements)
{
    const struct sequence *s = sequence_of(cx);
    for (uint32_t k = i; spare_products_follows(s, i, k); k++) {
        const struct op_work *w = spare_products_at(cx, k);
        if (w) return w->m * w->k == elements && w->batch <= 1 ? k : 0;
        const struct roof_kind *kind = spare_products_kind(cx, k);
        if (kind->work.kind.class != OP_COPY || kind->work.elements != elements) return 0;
    }
    return 0;
}

int one_hot_find(struct spare_search *x, struct err *e)
{
    const struct context *cx = x->cx;
    const struct sequence *s = sequence_of(cx);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n && !s->trains;) {
        uint32_t end = i;
        double elements = 0;
        for (; spare_products_follows(s, i, end) &&
               work_words_has(x->words, &s->items[end], WORD_ONE_HOT);
             end++) {
            double of = spare_products_kind(cx, end)->work.elements;
            if (of > elements) elements = of;
        }
        uint32_t product = end > i ? spare_products_reader(cx, end, elements) : 0;
        for (uint32_t k = i; product && k < product; k++)
            TRY(spare_drop(&x->spare, cx, s->items[k].work, e));
        if (product) {
            const struct op_work *w = spare_products_at(cx, product);
            double bytes = w->elements > 0 ? 2 * w->written : 0;
            double ns = roofline_ns(&roofline_of(cx)->ceilings, PRECISIONS, 0, bytes);
            TRY(kernel_fix_add(&x->spare.fix, cx, s->items[product].work, ns, e));
            n++;
        }
        i = end > i ? end : i + 1;
    }
    x->why = rule_text(cx,
                       "%s times rows of a matrix are chosen by a product with one-hot vectors: "
                       "the vectors are written, converted and multiplied (%s of GPU time), to "
                       "copy one row each.",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}

/* ---- inverses ---- */

/* Items [begin, end) compute an inverse, which the product at `end` multiplies with few columns: as
 * many are all that has to be solved for. */
static int spare_products_solve(struct spare_search *x, uint32_t begin, uint32_t end, struct err *e)
{
    const struct context *cx = x->cx;
    const struct sequence *s = sequence_of(cx);
    const struct op_work *w = spare_products_at(cx, end);
    for (uint32_t i = begin; i < end; i++) {
        row_t work = s->items[i].work;
        if (!work_words_has(x->words, &s->items[i], WORD_LU_SOLVE)) continue;
        double ns = (double)cx->t->dur_ns[work] * w->n / w->k;
        if (ns < spare_products_least_ns) ns = spare_products_least_ns;
        if (ns < (double)cx->t->dur_ns[work]) TRY(kernel_fix_add(&x->spare.fix, cx, work, ns, e));
    }
    return spare_drop(&x->spare, cx, s->items[end].work, e);
}

int inverses_find(struct spare_search *x, struct err *e)
{
    const struct context *cx = x->cx;
    const struct sequence *s = sequence_of(cx);
    uint32_t n = 0;
    for (uint32_t i = 0, end; i<s->n; i = end> i ? end : i + 1) {
        for (end = i; spare_products_follows(s, i, end) &&
                      work_words_has(x->words, &s->items[end], WORD_INVERSE);)
            end++;
        const struct op_work *w = end > i ? spare_products_at(cx, end) : NULL;
        if (!w || w->m != w->k || w->n >= w->k) continue;
        TRY(spare_products_solve(x, i, end, e));
        n++;
    }
    x->why = rule_text(cx,
                       "%s times a matrix is inverted to multiply the inverse with something "
                       "narrower (%s of GPU time that this takes): solving for that alone does "
                       "less, and is more accurate.",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}

/* ---- weights that are unpacked ---- */

static bool spare_products_is_packed(enum number_type type)
{
    return type == NUMBER_I8 || type == NUMBER_F8;
}

/* From item `i`, a copy out of a packed type, on: the product whose weight that becomes, 0 where
 * there is none. */
static uint32_t spare_products_unpacked(const struct context *cx, uint32_t i)
{
    const struct sequence *s = sequence_of(cx);
    const struct op_work *first = &spare_products_kind(cx, i)->work;
    if (first->kind.class != OP_COPY || !spare_products_is_packed(first->from)) return 0;
    for (uint32_t k = i + 1; spare_products_follows(s, i, k); k++) {
        const struct op_work *w = spare_products_at(cx, k);
        if (w) return w->k * w->n == first->elements && w->m * w->k != first->elements ? k : 0;
        const struct roof_kind *kind = spare_products_kind(cx, k);
        enum op_class class = kind->work.kind.class;
        if ((class != OP_COPY && class != OP_POINTWISE) || kind->work.elements != first->elements)
            return 0;
    }
    return 0;
}

int unpacked_weights_find(struct spare_search *x, struct err *e)
{
    const struct context *cx = x->cx;
    const struct sequence *s = sequence_of(cx);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n && !s->trains; i++) {
        uint32_t product = spare_products_unpacked(cx, i);
        if (!product) continue;
        for (uint32_t k = i; k < product; k++) TRY(spare_drop(&x->spare, cx, s->items[k].work, e));
        TRY(spare_cut(&x->spare, cx, s->items[i].thread,
                      spare_launching(cx, s->items[i].call, s->items[product - 1].call), e));
        n++;
        i = product;
    }
    x->why = rule_text(cx,
                       "%s times a weight of 8 bits per number is converted and scaled before the "
                       "product that reads it, with the same result every time (%s of GPU time).",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}

/* ---- rows that are never read ---- */

/* Whether the operator of item `i` reads rows of so many elements. */
static bool spare_products_reads_rows(const struct context *cx, uint32_t i, double columns)
{
    struct work_op by = work_op_of(cx, sequence_of(cx)->items[i].work);
    const struct op_info *op = work_op_info(by);
    struct shape s;
    return op && shape_read(trace_str(by.t, op->dims), 0, &s) && s.rank > 0 &&
           (double)s.dim[s.rank - 1] == columns;
}

/* How many rows of the product at item `i` are read: `ret_end` is the first item that reads them.
 * All of them where that is not clear. */
static double spare_products_rows_read(const struct context *cx, uint32_t i, uint32_t *ret_end)
{
    const struct sequence *s = sequence_of(cx);
    const struct op_work *w = spare_products_at(cx, i);
    double all = w->m * w->n;
    for (uint32_t k = i + 1; spare_products_follows(s, i, k); k++) {
        const struct op_work *next = &spare_products_kind(cx, k)->work;
        enum op_class class = next->kind.class;
        if (class == OP_COPY && next->elements == all) continue;
        bool selects = class == OP_SOFTMAX || class == OP_COPY || class == OP_REDUCTION;
        selects = selects && next->elements < all && spare_products_reads_rows(cx, k, w->n);
        double rows = selects ? next->elements / w->n : w->m;
        *ret_end = k;
        return rows >= 1 && rows == (double)(int64_t)rows ? rows : w->m;
    }
    return w->m;
}

int unread_rows_find(struct spare_search *x, struct err *e)
{
    const struct context *cx = x->cx;
    const struct sequence *s = sequence_of(cx);
    uint32_t n = 0;
    double rows = 0, all = 0;
    for (uint32_t i = 0; i < s->n && !s->trains; i++) {
        const struct op_work *w = spare_products_at(cx, i);
        uint32_t end = i;
        if (!w || w->batch > 1 || w->n < spare_products_wide) continue;
        double read = spare_products_rows_read(cx, i, &end);
        if (read * spare_products_rows_part > w->m) continue;
        rows = read;
        all = w->m;
        TRY(kernel_fix_add(&x->spare.fix, cx, s->items[i].work,
                           spare_products_ns(cx, i, read, w->n, w->k), e));
        for (uint32_t k = i + 1; k < end; k++)
            TRY(kernel_fix_add(&x->spare.fix, cx, s->items[k].work,
                               (double)cx->t->dur_ns[s->items[k].work] * read / w->m, e));
        n++;
    }
    x->why = rule_text(cx,
                       "%s times a product as wide as a vocabulary is computed for %.0f rows, of "
                       "which the next operator reads %.0f (%s of GPU time).",
                       human_count(n).s, all, rows, human_time(x->spare.fix.before_ns).s);
    return 0;
}
