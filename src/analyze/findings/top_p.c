/* top_p.c: sampling by top-p that sorts the whole vocabulary: a sort, a softmax beside it and a
 * running sum after it, and everything up to the next product on as many numbers. For the first
 * thousand alone it would be next to nothing. */
#include <math.h>

#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "base/human.h"

struct top_p_run {
    uint32_t begin, sorted, end; /* items: the sort is [begin, sorted) */
    bool softmax, scan;
    double elements; /* of the largest tensor, where known */
};

static bool top_p_multiplies(const struct context *cx, const struct launched *x)
{
    enum kernel_family f = roofline_kind(roofline_of(cx), cx->t, x->work)->family;
    return f == FAMILY_GEMM || f == FAMILY_CONV || f == FAMILY_ATTENTION;
}

static double top_p_elements(const struct context *cx, const struct launched *x)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, x->work);
    return k->from == ROOF_UNKNOWN ? 0 : k->work.elements;
}

/* The sort that begins at item `i`, and what follows it up to the next product. */
static struct top_p_run top_p_read(const struct context *cx, struct work_words *w, uint32_t i)
{
    const struct sequence *s = sequence_of(cx);
    uint32_t end = s->unit_begin[s->items[i].unit + 1];
    struct top_p_run x = {i, i, i, false, false, 0};
    while (x.sorted < end && work_words_has(w, &s->items[x.sorted], WORD_SORT)) x.sorted++;
    for (uint32_t k = 1; k <= top_p_near_kernels && i >= k + s->unit_begin[s->items[i].unit]; k++)
        x.softmax |= work_words_has(w, &s->items[i - k], WORD_SOFTMAX);
    for (x.end = i; x.end < end && x.end - i < top_p_reach_kernels; x.end++) {
        const struct launched *at = &s->items[x.end];
        uint32_t words = work_words_of(w, at);
        if (top_p_multiplies(cx, at) || at->thread != s->items[i].thread) break;
        if (x.end > x.sorted && words >> WORD_SORT & 1) break;
        x.softmax |= x.end < x.sorted + top_p_near_kernels && words >> WORD_SOFTMAX & 1;
        x.scan |= x.end >= x.sorted && words >> WORD_SCAN & 1;
        double n = top_p_elements(cx, at);
        if (n > x.elements) x.elements = n;
    }
    return x;
}

/* How long torch.topk takes on as many numbers; NaN when their number is not known. */
static double top_p_select_ns(const struct context *cx, const struct top_p_run *x)
{
    double bytes = x->elements * 4;
    if (!(bytes > 0)) return NAN;
    return top_p_select_passes * roofline_ns(&roofline_of(cx)->ceilings, PRECISIONS, 0, bytes);
}

static int top_p_add(struct spare_search *out, const struct top_p_run *x, struct err *e)
{
    const struct context *cx = out->cx;
    const struct launched *items = sequence_of(cx)->items;
    double select = top_p_select_ns(cx, x);
    for (uint32_t i = x->begin; i < x->end; i++) {
        int64_t now = cx->t->dur_ns[items[i].work];
        double small = now < top_p_kernel_ns ? (double)now : top_p_kernel_ns;
        double ns = i == x->begin ? (isnan(select) ? (double)now : select) : small;
        TRY(kernel_fix_add(&out->spare.fix, cx, items[i].work, ns, e));
    }
    return 0;
}

int top_p_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n;) {
        if (!work_words_has(x->words, &s->items[i], WORD_SORT)) {
            i++;
            continue;
        }
        struct top_p_run run = top_p_read(x->cx, x->words, i);
        bool samples = run.softmax && run.scan;
        if (samples) TRY(top_p_add(x, &run, e));
        n += samples;
        i = samples ? run.end : run.sorted;
        if (i == run.begin) i++;
    }
    x->why = rule_text(x->cx,
                       "%s times a whole vocabulary is sorted to sample from its most likely part, "
                       "and the sorted copy is summed up, masked and sampled in full (%s of GPU "
                       "time). Only the first few hundred values ever matter.",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
