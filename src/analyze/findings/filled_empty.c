/* filled_empty.c: what torch.use_deterministic_algorithms(True) does to memory that a program asks
 * for without values: torch.empty fills it, so that reading it by mistake is reproducible.
 *
 *     aten::empty_like [ aten::empty_strided [ aten::fill_ [launch] ] ]
 *
 * A fill that the program asks for itself (torch.zeros, torch.full) stands beside the operator that
 * takes the memory, not below it. */
#include "analyze/findings/spare_rows.h"
#include "analyze/kernels/work_op.h"
#include "base/human.h"

static bool filled_empty_is_one(struct work_op by)
{
    if (!str_is(work_op_name(by), "aten::fill_")) return false;
    row_t up = by.t->parent[by.op];
    if (up == ROW_NONE || by.t->kind[up] != KIND_OP) return false;
    struct str name = trace_name(by.t, up);
    return str_starts(name, "aten::empty") || str_is(name, "aten::resize_");
}

/* The fill as the CPU sees it; its launch alone where operators are known from units in depth. */
static struct span filled_empty_span(const struct context *cx, const struct launched *x)
{
    return trace_span(cx->t, x->op == ROW_NONE ? x->call : x->op);
}

int filled_empty_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct launched *at = &s->items[i];
        if (!filled_empty_is_one(work_op_of(x->cx, at->work))) continue;
        n++;
        TRY(spare_drop(&x->spare, x->cx, at->work, e));
        if (i == 0 || at->op == ROW_NONE || s->items[i - 1].op != at->op)
            TRY(spare_cut(&x->spare, x->cx, at->thread, filled_empty_span(x->cx, at), e));
    }
    x->why = rule_text(x->cx,
                       "%s times memory is filled as soon as it is taken (%s of GPU time), because "
                       "deterministic algorithms are on; the program then writes to it itself.",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
