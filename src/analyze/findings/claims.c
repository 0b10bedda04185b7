/* claims.c: see claims.h. Kernels and waits are marked once per rule; spans are searched. */
#include "analyze/findings/claims.h"

#include "analyze/kernels/roofline.h"
#include "base/search.h"

static bool claims_is_held(const struct findings *f, const struct finding *x, unsigned claim)
{
    return (x->rule->claims & claim) && rule_yields(f->claims.by, x->rule);
}

static void claims_mark_kernels(const struct context *cx, const struct sim_edit *ed,
                                struct findings *out)
{
    for (uint32_t i = 0; ed->kind == EDIT_SET_WORK && i < ed->n_rows; i++)
        out->claims.kernels[roofline_slot(cx->t, ed->rows[i])] = 1;
}

static void claims_mark_waits(const struct context *cx, const struct sim_edit *ed,
                              struct findings *out)
{
    for (uint32_t i = 0; ed->kind == EDIT_DROP_SYNC && i < ed->n_rows; i++) {
        uint32_t c = sim_find_call(model_of(cx), ed->rows[i]);
        if (c != SIM_NONE) out->claims.waits[c] = 1;
    }
}

static int claims_clear(uint8_t **marks, size_t n, struct arena *mem, struct err *e)
{
    if (!*marks) *marks = arena_alloc(mem, n + 1);
    if (!*marks) return err_nomem(e);
    memset(*marks, 0, n + 1);
    return 0;
}

int claims_gather(const struct context *cx, const struct rule *rule, struct findings *out,
                  struct err *e)
{
    out->claims.by = rule;
    if (!rule->yields_to) return 0;
    TRY(claims_clear(&out->claims.kernels, cx->t->n_gpu, cx->mem, e));
    TRY(claims_clear(&out->claims.waits, model_of(cx)->n_calls, cx->mem, e));
    for (uint32_t i = 0; i < out->n; i++) {
        const struct finding *x = out->items[i];
        for (uint32_t k = 0; k < x->n_edits; k++) {
            if (claims_is_held(out, x, CLAIM_KERNELS)) claims_mark_kernels(cx, &x->edits[k], out);
            if (claims_is_held(out, x, CLAIM_WAITS)) claims_mark_waits(cx, &x->edits[k], out);
        }
    }
    return 0;
}

bool claims_kernel(const struct findings *f, const struct context *cx, row_t work)
{
    return f && f->claims.by->yields_to && f->claims.kernels[roofline_slot(cx->t, work)];
}

int64_t claims_share_ns(const struct sim_cut *spans, uint32_t n, uint32_t thread, struct span s)
{
    uint32_t i = 0;
    SEARCH_PAST(i, n,
                spans[i].thread < thread ||
                    (spans[i].thread == thread && spans[i].end_ns <= s.begin_ns));
    int64_t ns = 0;
    for (; i < n && spans[i].thread == thread && spans[i].begin_ns < s.end_ns; i++)
        ns += span_ns(span_both((struct span){spans[i].begin_ns, spans[i].end_ns}, s));
    return ns;
}

/* What findings with that claim hold of the time of a thread of the model. */
static int64_t claims_held_ns(const struct findings *f, unsigned claim, uint32_t thread,
                              struct span s)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct finding *x = f->items[i];
        for (uint32_t k = 0; k < x->n_edits && claims_is_held(f, x, claim); k++)
            if (x->edits[k].kind == EDIT_DROP_SPANS)
                ns += claims_share_ns(x->edits[k].spans, x->edits[k].n_spans, thread, s);
    }
    return ns;
}

bool claims_call(const struct findings *f, const struct context *cx, row_t call)
{
    uint32_t c = sim_find_call(model_of(cx), call);
    if (!f->claims.by->yields_to || c == SIM_NONE) return false;
    const struct sim_call *k = &model_of(cx)->calls[c];
    struct span begin = {k->begin_ns, k->begin_ns + 1};
    return f->claims.waits[c] || claims_held_ns(f, CLAIM_CALLS, k->thread, begin) > 0;
}

bool claims_time(const struct findings *f, const struct context *cx, lane_id thread, struct span s)
{
    uint32_t of_model = sim_thread_of(model_of(cx), thread);
    return of_model != SIM_NONE && 2 * claims_held_ns(f, CLAIM_TIME, of_model, s) > span_ns(s);
}
