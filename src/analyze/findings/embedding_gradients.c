/* embedding_gradients.c: dense gradients of large embeddings: a table as large as the embedding is
 * filled with zeros, and gradients are added to the few rows that were looked up.
 *
 *     aten::embedding_dense_backward [ sort   aten::zeros [ fill ]   rows ]     optimizer
 *
 * Where filling takes longer than writing the rows, most of the table stays zero. With sparse
 * gradients filling goes, and so does what the optimizer does to the rows that were not looked up:
 * the same share of its work as the table has of all that it works on. Sorting stays, in the
 * optimizer. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/kernels/work_op.h"
#include "base/human.h"

static bool embedding_gradients_is_fill(const struct trace *t, row_t work)
{
    return t->kind[work] == KIND_KERNEL && str_has(trace_name(t, work), "FillFunctor");
}

/* Kernels that write rows of the table, by their names. */
static bool embedding_gradients_is_rows(const struct trace *t, row_t work)
{
    struct str name = trace_name(t, work);
    return str_has(name, "compute_grad_weight") || str_has(name, "sum_and_scatter") ||
           str_has(name, "embedding_backward_");
}

/* Whether its operator is known, and is another one. */
static bool embedding_gradients_is_other(struct spare_search *x, const struct launched *of)
{
    bool known = sequence_of(x->cx)->has_ops || work_op_of(x->cx, of->work).op != ROW_NONE;
    return known && !work_words_has(x->words, of, WORD_EMBEDDING_GRADIENT);
}

/* The fill of the table whose rows item `i` writes, or `i`. Where operators are known, it has the
 * same one. */
static uint32_t embedding_gradients_fill_before(struct spare_search *x, uint32_t i)
{
    const struct context *cx = x->cx;
    const struct sequence *s = sequence_of(cx);
    uint32_t longest = i;
    for (uint32_t k = i; k > 0 && i - k < (uint32_t)embedding_gradients_reach_kernels; k--) {
        row_t work = s->items[k - 1].work;
        if (s->items[k - 1].thread != s->items[i].thread) break;
        if (embedding_gradients_is_other(x, &s->items[k - 1])) break;
        if (embedding_gradients_is_fill(cx->t, work) &&
            (longest == i || cx->t->dur_ns[work] > cx->t->dur_ns[s->items[longest].work]))
            longest = k - 1;
    }
    return longest;
}

struct embedding_gradients {
    uint32_t n;
    int64_t fill_ns, rows_ns;
    double largest; /* elements of the largest table, where known */
};

/* What is filled and written; the fills go. */
static int embedding_gradients_read(struct spare_search *x, struct embedding_gradients *g,
                                    struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    const struct trace *t = x->cx->t;
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        row_t work = s->items[i].work;
        if (!embedding_gradients_is_rows(t, work)) continue;
        g->rows_ns += t->dur_ns[work];
        uint32_t fill = embedding_gradients_fill_before(x, i);
        if (fill == i || fill == last) continue;
        const struct roof_kind *k = roofline_kind(roofline_of(x->cx), t, s->items[fill].work);
        if (k->from != ROOF_UNKNOWN && k->work.elements > g->largest) g->largest = k->work.elements;
        last = fill;
        g->fill_ns += t->dur_ns[s->items[fill].work];
        g->n++;
        TRY(spare_drop(&x->spare, x->cx, s->items[fill].work, e));
    }
    return 0;
}

/* Work of the optimizer on lists that hold the table: that part of it goes. */
static int embedding_gradients_update(struct spare_search *x, const struct embedding_gradients *g,
                                      struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    for (uint32_t i = 0; i < s->n && g->largest > 0; i++) {
        row_t work = s->items[i].work;
        const struct roof_kind *k = roofline_kind(roofline_of(x->cx), x->cx->t, work);
        if (!k->work.kind.lists || k->work.largest_in_list != g->largest) continue;
        double part = k->work.elements > 0 ? g->largest / k->work.elements : 1;
        double keep = part < 1 ? 1 - part : 0;
        TRY(kernel_fix_add(&x->spare.fix, x->cx, work, keep * (double)x->cx->t->dur_ns[work], e));
    }
    return 0;
}

int embedding_gradients_find(struct spare_search *x, struct err *e)
{
    struct embedding_gradients g = {0};
    TRY(embedding_gradients_read(x, &g, e));
    if (!g.n || g.fill_ns <= g.rows_ns) {
        spare_search_drop(x);
        return 0;
    }
    TRY(embedding_gradients_update(x, &g, e));
    x->why = rule_text(x->cx,
                       "%s times a gradient as large as a whole embedding is filled with zeros (%s "
                       "of GPU time), which takes longer than the rows that were looked up; then "
                       "the optimizer goes through all of it.",
                       human_count(g.n).s, human_time(g.fill_ns).s);
    return 0;
}
