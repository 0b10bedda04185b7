/* uncached_memory.c: what PYTORCH_NO_CUDA_MEMORY_CACHING=1 does: every tensor is taken from the
 * driver, and given back to it, which waits for the device. With torch's cache a step takes nothing
 * from the driver once it is warm; without it, nearly as often as it launches. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/names/calls.h"
#include "base/human.h"

/* Pools of the driver (cudaMallocAsync) keep memory themselves. */
static bool uncached_memory_is_call(const struct context *cx, row_t r, enum call_kind kind)
{
    return calls_kind(calls_of(cx), cx->t, r) == kind && !str_has(trace_name(cx->t, r), "Async");
}

static uint32_t uncached_memory_count(const struct context *cx, enum call_kind kind)
{
    uint32_t n = 0;
    for (row_t r = 0; r < cx->t->n_rows; r++) n += uncached_memory_is_call(cx, r, kind);
    return n;
}

static bool uncached_memory_is_on(const struct context *cx)
{
    const struct sequence *s = sequence_of(cx);
    uint32_t taken = uncached_memory_count(cx, CALL_ALLOC);
    uint32_t given = uncached_memory_count(cx, CALL_FREE);
    uint32_t fewer = taken < given ? taken : given;
    return s->has_ops && fewer >= (uint32_t)uncached_memory_least &&
           (double)fewer >= uncached_memory_share * s->n;
}

int uncached_memory_find(struct spare_search *x, struct err *e)
{
    const struct trace *t = x->cx->t;
    uint32_t n = 0;
    if (!uncached_memory_is_on(x->cx)) return 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!uncached_memory_is_call(x->cx, r, CALL_ALLOC) &&
            !uncached_memory_is_call(x->cx, r, CALL_FREE))
            continue;
        n++;
        TRY(spare_cut(&x->spare, x->cx, t->lane[r], trace_span(t, r), e));
    }
    x->why = rule_text(x->cx,
                       "Memory is taken from the driver and given back %s times, nearly as often "
                       "as work is launched (%s on the CPU): torch keeps none for the next tensor.",
                       human_count(n).s, human_time(x->spare.cpu_ns).s);
    return 0;
}
