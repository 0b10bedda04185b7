/* device_copies.c: kernels that only move data from one place of the GPU's memory to another fill a
 * good part of its time: torch.cat, .contiguous(), casts. With shapes other rules say which of them
 * can go; this one is for recordings without, where nothing is known but that they compute
 * nothing. */
#include "analyze/names/copy.h"
#include "analyze/rules/kernel_fix.h"
#include "base/human.h"
#include "base/stats.h"

/* Share of the GPU's work, in percent: below it copies are what eager programs need. */
#define LEAST_PCT 25
/* ... and of kernels that compute something: without any, copying is what the program is for. */
#define LEAST_COMPUTING_PCT 10
/* Shorter ones wait for launches, not for memory; fewer do not make a loop. */
#define LEAST_NS    5000
#define LEAST_TIMES 3

struct found {
    struct kernel_fix fix;
    int64_t cat_ns, all_ns; /* torch.cat's; all work on the GPU */
};

static bool is_cat(struct str name)
{
    return str_has(name, "CatArray");
}

static bool only_moves(const struct context *cx, row_t r)
{
    if (cx->t->kind[r] == KIND_MEMCPY) return copy_of(cx->t, r).way == COPY_INSIDE;
    return cx->t->kind[r] == KIND_KERNEL &&
           roofline_kind(roofline_of(cx), cx->t, r)->family == FAMILY_COPY;
}

static bool computes(const struct context *cx, row_t r)
{
    return cx->t->kind[r] == KIND_KERNEL && !only_moves(cx, r) &&
           !str_has(trace_name(cx->t, r), "FillFunctor");
}

/* What the operator works on is known: other rules have looked at it. */
static bool has_shapes(const struct context *cx, row_t r)
{
    const struct roofline *f = roofline_of(cx);
    const struct op_info *op = trace_op(cx->t, roofline_owner(f, cx->t, r));
    return roofline_kind(f, cx->t, r)->from == ROOF_SHAPES || (op && op->dims != STR_NONE);
}

static int collect(const struct context *cx, struct found *x, struct err *e)
{
    const struct trace *t = cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!trace_is_work(t, r)) continue;
        x->all_ns += t->dur_ns[r];
        if (t->dur_ns[r] < LEAST_NS || !only_moves(cx, r) || has_shapes(cx, r)) continue;
        uint32_t before = x->fix.n;
        TRY(kernel_fix_add(&x->fix, cx, r, 0, e));
        if (x->fix.n > before && is_cat(trace_name(t, r))) x->cat_ns += t->dur_ns[r];
    }
    return 0;
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e);

static int64_t computing_ns(const struct context *cx)
{
    int64_t ns = 0;
    for (row_t r = 0; r < cx->t->n_rows; r++)
        if (computes(cx, r)) ns += cx->t->dur_ns[r];
    return ns;
}

static bool is_finding(const struct context *cx, const struct found *x)
{
    return x->fix.n >= LEAST_TIMES && stats_pct(x->fix.before_ns, x->all_ns) >= LEAST_PCT &&
           kernel_fix_pays(&x->fix, cx) &&
           stats_pct(computing_ns(cx), x->all_ns) >= LEAST_COMPUTING_PCT;
}

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = collect(cx, &x, e);
    if (rc == 0 && is_finding(cx, &x)) rc = report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_device_copies = {
    .id = "device_copies",
    .summary = "copies from GPU memory to GPU memory fill the GPU's time",
    .run = run,
};

static const char *fix(bool cat)
{
    return cat ? "Do without torch.cat: preallocate the result once and let what makes the parts "
                 "write into slices of it (out=, copy_ into a slice; a static KV cache)."
               : "If what is copied stays the same, make the copy (contiguous, transpose, cast) "
                 "once, before the loop, and keep the result; else make the tensor in the layout "
                 "and type in which it is used.";
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_device_copies, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, out, f, e));
    bool cat = 2 * x->cat_ns > x->fix.before_ns;
    f->title = "copies on the GPU fill its time";
    f->why =
        rule_text(cx,
                  "%u kernels only copy data inside the GPU's memory%s and take %s, %.0f %% of "
                  "its work.",
                  x->fix.n, cat ? ", most of them for torch.cat," : "",
                  human_time(x->fix.before_ns).s, stats_pct(x->fix.before_ns, x->all_ns));
    f->fix = fix(cat);
    f->not_fixed = "The prediction is without all of these copies; some may be needed. Shapes "
                   "(record_shapes=True, strata run --ops all) show what is copied.";
    f->show = "kernels %s --filter '[cC]opy'";
    return 0;
}
