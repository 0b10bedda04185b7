/* growing_cat.c: a large tensor that torch.cat makes a little longer in every step: a KV cache, a
 * history. All of it is copied to add the new part. */
#include "analyze/findings/kernel_fix.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

struct found {
    struct kernel_fix fix;
    double bytes;
};

/* Elements copied besides the largest part; 0 if it does not grow. */
static double growing_cat_grown(const struct roof_kind *k)
{
    const struct op_work *w = &k->work;
    if (w->kind.class != OP_CAT || !(w->elements > 0) || k->from != ROOF_SHAPES) return 0;
    bool grows = w->largest_in_list >= growing_cat_large_share * w->elements &&
                 w->largest_in_list < w->elements;
    return grows ? w->elements - w->largest_in_list : 0;
}

static int growing_cat_collect(const struct context *cx, struct found *x, struct err *e)
{
    const struct roofline *f = roofline_of(cx);
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (cx->t->kind[r] != KIND_KERNEL || cx->t->dur_ns[r] < growing_cat_ns) continue;
        const struct roof_kind *k = roofline_kind(f, cx->t, r);
        double more = growing_cat_grown(k);
        if (!(more > 0)) continue;
        x->bytes += roofline_row_bytes(f, cx->t, r);
        double then = (double)cx->t->dur_ns[r] * more / k->work.elements;
        TRY(kernel_fix_add(&x->fix, cx, r, then > growing_cat_kept_ns ? then : growing_cat_kept_ns,
                           e));
    }
    return 0;
}

static int growing_cat_report(const struct context *cx, const struct found *x, struct findings *out,
                              struct err *e);

static int growing_cat_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = growing_cat_collect(cx, &x, e);
    if (rc == 0 && x.fix.n >= growing_cat_times && kernel_fix_pays(&x.fix, cx))
        rc = growing_cat_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_growing_cat = {
    .id = "growing_cat",
    .summary = "a large tensor is copied to make it a little longer",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_overwritten_fill),
    .run = growing_cat_run,
};

static int growing_cat_report(const struct context *cx, const struct found *x, struct findings *out,
                              struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_growing_cat, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    f->title = "torch.cat copies a growing tensor";
    f->effort = EFFORT_LOCAL;
    f->why =
        rule_text(cx,
                  "torch.cat joins a large tensor with a small one %s times and copies all of it "
                  "(%s, %s moved).",
                  human_count(x->fix.n).s, human_time(x->fix.before_ns).s,
                  human_bytes(kernel_whole(x->bytes)).s);
    f->fix = "Preallocate the tensor at its largest size and write the new part into its place "
             "(a static KV cache: copy_ into a slice, index_copy_).";
    f->not_fixed = "Code that reads it must know how much of it is valid.";
    f->show = "kernels %s --filter Cat";
    return 0;
}
