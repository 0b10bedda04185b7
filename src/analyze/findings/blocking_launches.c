/* blocking_launches.c: what CUDA_LAUNCH_BLOCKING=1 does: every launch returns when its kernel is
 * done.
 *
 *     thread   [launch           ] [launch    ]        usually   [launch] [launch]
 *     device      [kernel      ]     [kernel]                        [kernel      ][kernel]
 *
 * Short kernels may end before a launch returns anyway, so long ones have to be among them. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/names/calls.h"
#include "base/human.h"

static bool blocking_launches_counts(const struct context *cx, const struct launched *x)
{
    return cx->t->kind[x->work] == KIND_KERNEL &&
           calls_kind(calls_of(cx), cx->t, x->call) == CALL_LAUNCH;
}

static bool blocking_launches_holds(const struct trace *t, const struct launched *x)
{
    return t->ts_ns[x->call] <= t->ts_ns[x->work] &&
           trace_end_ns(t, x->call) >= trace_end_ns(t, x->work);
}

static bool blocking_launches_are_on(const struct context *cx)
{
    const struct sequence *s = sequence_of(cx);
    uint32_t n = 0, held = 0, longs = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!blocking_launches_counts(cx, &s->items[i])) continue;
        bool holds = blocking_launches_holds(cx->t, &s->items[i]);
        n++;
        held += holds;
        longs += holds && cx->t->dur_ns[s->items[i].work] >= blocking_launches_kernel_ns;
    }
    return longs >= (uint32_t)blocking_launches_least &&
           (double)held >= blocking_launches_share * n;
}

int blocking_launches_find(struct spare_search *x, struct err *e)
{
    const struct trace *t = x->cx->t;
    const struct sequence *s = sequence_of(x->cx);
    uint32_t n = 0;
    if (!blocking_launches_are_on(x->cx)) return 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct launched *at = &s->items[i];
        if (!blocking_launches_counts(x->cx, at) || !blocking_launches_holds(t, at)) continue;
        int64_t own = t->ts_ns[at->work] - t->ts_ns[at->call], all = t->dur_ns[at->call];
        if (own > blocking_launches_call_ns) own = blocking_launches_call_ns;
        n++;
        if (all > 0) TRY(spare_scale(&x->spare, x->cx, at->call, (double)own / (double)all, e));
    }
    x->why = rule_text(x->cx,
                       "Each of %s launches returns only when its kernel is done: the CPU prepares "
                       "nothing while the GPU works, and the GPU is idle while the CPU prepares "
                       "the next launch (the CPU waits for %s).",
                       human_count(n).s, human_time(x->spare.cpu_ns).s);
    return 0;
}
