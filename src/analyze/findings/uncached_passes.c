/* uncached_passes.c: a model that generates without a cache of keys and values: every pass computes
 * all positions again, a few more than the pass before.
 *
 *     pass 1   products of 8192 rows   pass 2   8200 rows   pass 3   8208 rows ...
 *
 * With a cache each pass after the first computes the new rows only. Products with the same weight
 * (columns and depth) show the passes; shapes have to be known. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "base/human.h"

struct uncached_passes {
    const struct context *cx;
    const struct sequence *s;
    uint32_t first; /* item where the passes begin to grow */
    uint32_t last;  /* the last item of the last pass */
    uint32_t n;     /* passes */
    double n_new;   /* rows that each has more than the one before */
    double columns, depth;
};

static const struct op_work *uncached_passes_product(const struct context *cx, uint32_t i)
{
    const struct roof_kind *k =
        roofline_kind(roofline_of(cx), cx->t, sequence_of(cx)->items[i].work);
    bool whole = k->family == FAMILY_GEMM && !k->helper && k->from == ROOF_SHAPES;
    return whole && k->work.m > 0 && k->work.n > 0 && k->work.k > 0 ? &k->work : NULL;
}

/* Passes of a growing number of rows from item `i` on, by the weight that it multiplies with. */
static struct uncached_passes uncached_passes_from(const struct context *cx, uint32_t i)
{
    const struct sequence *s = sequence_of(cx);
    const struct op_work *w = uncached_passes_product(cx, i);
    struct uncached_passes p = {.cx = cx, .s = s, .first = i, .last = i, .n = 1};
    if (!w || w->batch > 1) return p;
    p.columns = w->n;
    p.depth = w->k;
    double rows = w->m;
    for (uint32_t k = i + 1; k < s->n && s->items[k].unit == s->items[i].unit; k++) {
        const struct op_work *x = uncached_passes_product(cx, k);
        if (!x || x->n != p.columns || x->k != p.depth) continue;
        double more = x->m - rows;
        bool grows = more > 0 && more * uncached_passes_new_part <= rows &&
                     (p.n_new == 0 || more == p.n_new);
        if (more != 0 && !grows) break;
        if (grows) {
            p.n_new = more;
            p.n++;
            rows = x->m;
        }
        p.last = k;
    }
    return p;
}

/* Work of passes after the first takes as long as on the new rows alone, a product at least as long
 * as reading its weight. */
static int uncached_passes_cut(const struct uncached_passes *p, struct spare_search *x,
                               struct err *e)
{
    const struct trace *t = p->cx->t;
    const struct ceilings *c = &roofline_of(p->cx)->ceilings;
    double rows = 0, begin = uncached_passes_product(p->cx, p->first)->m;
    for (uint32_t i = p->first; i <= p->last; i++) {
        const struct op_work *w = uncached_passes_product(p->cx, i);
        if (w && w->n == p->columns && w->k == p->depth) rows = w->m;
        if (rows <= begin) continue;
        row_t work = p->s->items[i].work;
        double ns = (double)t->dur_ns[work] * p->n_new / rows;
        double least = w ? roofline_ns(c, PRECISIONS, 0, 2 * w->k * w->n) : 0;
        if (least < uncached_passes_kernel_ns) least = uncached_passes_kernel_ns;
        if (ns < least) ns = least;
        if (ns < (double)t->dur_ns[work]) TRY(kernel_fix_add(&x->spare.fix, p->cx, work, ns, e));
    }
    return 0;
}

int uncached_passes_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    uint32_t passes = 0;
    for (uint32_t i = 0; i < s->n && !s->trains; i++) {
        struct uncached_passes p = uncached_passes_from(x->cx, i);
        if (p.n < (uint32_t)uncached_passes_least) continue;
        TRY(uncached_passes_cut(&p, x, e));
        passes += p.n;
        i = p.last;
    }
    x->why = rule_text(x->cx,
                       "%s passes of a model each compute some rows more than the one before, and "
                       "all that those had again (%s of GPU time): it generates without a cache of "
                       "keys and values.",
                       human_count(passes).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
