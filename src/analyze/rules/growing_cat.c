/* growing_cat.c: a large tensor that torch.cat makes a little longer in every step: a KV cache, a
 * history. All of it is copied to add the new part. */
#include "analyze/rules/kernel_fix.h"
#include "base/human.h"

/* The large part is this share of the result, or it is not growth. */
#define LARGE 0.9
/* Times it must happen. */
#define LEAST_TIMES 4
#define LEAST_NS    5000

struct found {
    struct kernel_fix fix;
    double bytes;
};

/* Elements copied besides the largest part; 0 if it does not grow. */
static double grown(const struct roof_kind *k)
{
    const struct op_work *w = &k->work;
    if (w->kind.class != OP_CAT || !(w->elements > 0) || k->from != ROOF_SHAPES) return 0;
    bool grows = w->largest_in_list >= LARGE * w->elements && w->largest_in_list < w->elements;
    return grows ? w->elements - w->largest_in_list : 0;
}

static int collect(const struct context *cx, struct found *x, struct err *e)
{
    const struct roofline *f = roofline_of(cx);
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (cx->t->kind[r] != KIND_KERNEL || cx->t->dur_ns[r] < LEAST_NS) continue;
        const struct roof_kind *k = roofline_kind(f, cx->t, r);
        double more = grown(k);
        if (!(more > 0)) continue;
        x->bytes += roofline_row_bytes(f, cx->t, r);
        double then = (double)cx->t->dur_ns[r] * more / k->work.elements;
        TRY(kernel_fix_add(&x->fix, cx, r, then > 2000 ? then : 2000, e));
    }
    return 0;
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = collect(cx, &x, e);
    if (rc == 0 && x.fix.n >= LEAST_TIMES && kernel_fix_pays(&x.fix, cx))
        rc = report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_growing_cat = {
    .id = "growing_cat",
    .summary = "a large tensor is copied to make it a little longer",
    .run = run,
};

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_growing_cat, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, out, f, e));
    f->title = "torch.cat copies a large tensor to make it longer";
    f->effort = EFFORT_LOCAL;
    f->why =
        rule_text(cx,
                  "torch.cat joins a large tensor with a small one %u times and copies all of it "
                  "(%s, %s moved).",
                  x->fix.n, human_time(x->fix.before_ns).s, human_bytes(kernel_whole(x->bytes)).s);
    f->fix = "Preallocate the tensor at its largest size and write the new part into its place (a "
             "static "
             "KV cache: copy_ into a slice, index_copy_).";
    f->not_fixed = "Code that reads it must know how much of it is valid.";
    f->show = "kernels %s --filter Cat";
    return 0;
}
