/* device_copies.c: kernels that only move data from one place of the GPU's memory to another fill a
 * good part of its time: torch.cat, .contiguous(), casts. With shapes other rules say which of them
 * can go; this one is for recordings without, where nothing is known but that they compute
 * nothing. */
#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/copy.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/stats.h"

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

static bool device_copies_computes(const struct context *cx, row_t r)
{
    return cx->t->kind[r] == KIND_KERNEL && !only_moves(cx, r) &&
           !str_has(trace_name(cx->t, r), "FillFunctor");
}

/* What the operator works on is known: other rules have looked at it. */
static bool device_copies_has_shapes(const struct context *cx, row_t r)
{
    const struct op_info *op = work_op_info(work_op_of(cx, r));
    return roofline_kind(roofline_of(cx), cx->t, r)->from == ROOF_SHAPES ||
           (op && op->dims != STR_NONE);
}

static int device_copies_collect(const struct context *cx, struct found *x, struct err *e)
{
    const struct trace *t = cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!trace_is_work(t, r)) continue;
        x->all_ns += t->dur_ns[r];
        if (t->dur_ns[r] < device_copies_ns || !only_moves(cx, r) ||
            device_copies_has_shapes(cx, r))
            continue;
        uint32_t before = x->fix.n;
        TRY(kernel_fix_add(&x->fix, cx, r, 0, e));
        if (x->fix.n > before && is_cat(trace_name(t, r))) x->cat_ns += t->dur_ns[r];
    }
    return 0;
}

static int device_copies_report(const struct context *cx, const struct found *x,
                                struct findings *out, struct err *e);

static int64_t computing_ns(const struct context *cx)
{
    int64_t ns = 0;
    for (row_t r = 0; r < cx->t->n_rows; r++)
        if (device_copies_computes(cx, r)) ns += cx->t->dur_ns[r];
    return ns;
}

static bool device_copies_is_finding(const struct context *cx, const struct found *x)
{
    return x->fix.n >= device_copies_times &&
           stats_pct(x->fix.before_ns, x->all_ns) >= device_copies_pct &&
           kernel_fix_pays(&x->fix, cx) &&
           stats_pct(computing_ns(cx), x->all_ns) >= device_copies_computing_pct;
}

static int device_copies_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = device_copies_collect(cx, &x, e);
    if (rc == 0 && device_copies_is_finding(cx, &x)) rc = device_copies_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_device_copies = {
    .id = "device_copies",
    .summary = "copies from GPU memory to GPU memory fill the GPU's time",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_unfused_chain),
    .run = device_copies_run,
};

static const char *device_copies_fix(bool cat)
{
    return cat ? "Do without torch.cat: preallocate the result once and let what makes the parts "
                 "write into slices of it (out=, copy_ into a slice; a static KV cache)."
               : "If the copied data stays the same, make the copy (contiguous, transpose, cast) "
                 "once, before the loop, and keep the result; else make the tensor in the layout "
                 "and type in which it is used.";
}

static int device_copies_report(const struct context *cx, const struct found *x,
                                struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_device_copies, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    bool cat = 2 * x->cat_ns > x->fix.before_ns;
    f->title = "copies on the GPU fill its time";
    f->why =
        rule_text(cx,
                  "%s kernels only copy data inside the GPU's memory%s and take %s, %.0f %% of "
                  "its work.",
                  human_count(x->fix.n).s, cat ? ", most of them for torch.cat," : "",
                  human_time(x->fix.before_ns).s, stats_pct(x->fix.before_ns, x->all_ns));
    f->fix = device_copies_fix(cat);
    f->not_fixed = rule_text(cx,
                             "The prediction is without all of these copies; some may be needed. "
                             "Shapes (%s) show what is copied.",
                             trace_meta(cx->t, TRACE_META_RECORDED).p ? "strata kernels --by shape"
                                                                      : "record_shapes=True");
    f->show = "kernels %s --filter '[cC]opy'";
    return 0;
}
