/* overwritten_fill.c: memory that is filled, with zeros as a rule, and then overwritten from its
 * first to its last byte by copies: torch.empty would do. */
#include "analyze/findings/kernel_fix.h"
#include "analyze/names/copy.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

static double filled_bytes(const struct context *cx, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (cx->t->dur_ns[r] < overwritten_fill_ns) return 0;
    if (cx->t->kind[r] == KIND_MEMSET) return kernel_copied_bytes(cx->t, r);
    bool fill = k->work.kind.class == OP_FILL || str_has(trace_name(cx->t, r), "FillFunctor");
    bool known = k->from == ROOF_SHAPES || k->from == ROOF_PEERS || k->from == ROOF_NAME;
    if (cx->t->kind[r] != KIND_KERNEL || !fill || !known) return 0;
    return k->work.elements * number_bytes(k->work.type);
}

/* Bytes that a copy writes on the device; 0 if it is not a copy. */
static double copied_bytes(const struct context *cx, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (cx->t->kind[r] == KIND_MEMCPY)
        return copy_of(cx->t, r).way == COPY_TO_HOST ? 0 : kernel_copied_bytes(cx->t, r);
    if (cx->t->kind[r] != KIND_KERNEL || k->work.kind.class != OP_COPY || k->from == ROOF_UNKNOWN)
        return 0;
    return k->work.written;
}

/* Whether the copies right after the fill write exactly as much as it did. */
static bool is_overwritten(const struct context *cx, row_t fill, row_t end)
{
    double left = filled_bytes(cx, fill);
    for (row_t r = fill + 1; r < end && r - fill <= overwritten_fill_copies && left > 0; r++) {
        double bytes = trace_is_work(cx->t, r) ? copied_bytes(cx, r) : 0;
        if (bytes <= 0) return false;
        left -= bytes;
    }
    return left == 0;
}

static int overwritten_fill_report(const struct context *cx, const struct kernel_fix *x,
                                   struct findings *out, struct err *e);

static int overwritten_fill_run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    struct kernel_fix x = {.others = out};
    int rc = 0;
    for (lane_id l = 0; l < t->n_lanes && rc == 0; l++) {
        if (t->lanes[l].kind != LANE_STREAM) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end && rc == 0; r++)
            if (trace_is_work(t, r) && filled_bytes(cx, r) > 0 &&
                is_overwritten(cx, r, t->lanes[l].end))
                rc = kernel_fix_add(&x, cx, r, 0, e);
    }
    if (rc == 0 && kernel_fix_pays(&x, cx)) rc = overwritten_fill_report(cx, &x, out, e);
    kernel_fix_done(&x);
    return rc;
}

const struct rule rule_overwritten_fill = {
    .id = "overwritten_fill",
    .summary = "memory is filled and then overwritten completely",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_repeated_conversion),
    .run = overwritten_fill_run,
};

static int overwritten_fill_report(const struct context *cx, const struct kernel_fix *x,
                                   struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_overwritten_fill, e);
    if (!f) return ERR_NOMEM;
    static const char *const wrappers[] = {"aten::fill_", "aten::zero_", NULL};
    TRY(kernel_fix_into(x, cx, f, e));
    TRY(kernel_fix_drop_ops(x, cx, wrappers, f, e));
    f->title = "memory is filled and then overwritten";
    f->effort = EFFORT_ONE_LINE;
    f->why =
        rule_text(cx,
                  "%s fills (%s) are followed by copies that write just as many bytes: the filled "
                  "values are never read.",
                  human_count(x->n).s, human_time(x->before_ns).s);
    f->fix =
        "Allocate with torch.empty or torch.empty_like instead of zeros, or write the result where "
        "it belongs (out=, torch.cat, torch.stack).";
    f->not_fixed =
        "This is correct only if the copies cover everything: check that no gap has to stay zero.";
    f->show = "kernels %s --by op";
    return 0;
}
