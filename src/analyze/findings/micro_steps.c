/* micro_steps.c: gradients that are reduced after each backward pass, though the optimizer runs
 * only after several of them: only the last reduction is needed.
 *
 *     forward backward [reduce]  forward backward [reduce]  forward backward [reduce]  optimizer
 *                      goes                       goes                        stays
 *
 * Ranks that share layers reduce in forward passes, too: such programs are left alone. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/names/collective.h"
#include "analyze/names/torch_words.h"
#include "base/human.h"

struct micro_steps {
    const struct context *cx;
    uint32_t begin, end; /* items of the unit */
};

static bool micro_steps_reduces(const struct trace *t, const struct launched *x)
{
    struct str name = trace_name(t, x->work);
    if (t->kind[x->work] != KIND_KERNEL || !collective_kernel(name)) return false;
    enum collective c = collective_of(name);
    return c == COLLECTIVE_ALL_REDUCE || c == COLLECTIVE_REDUCE_SCATTER;
}

static bool micro_steps_is_back(const struct launched *x)
{
    return x->flags & LAUNCHED_BACKWARD;
}

/* Whether a step of gradient accumulation: one run of the optimizer, no reduction in what runs
 * forward. */
static bool micro_steps_fit(const struct micro_steps *m)
{
    const struct launched *x = sequence_of(m->cx)->items;
    bool optimizer = false;
    for (uint32_t i = m->begin; i < m->end; i++) {
        if (!micro_steps_is_back(&x[i]) && micro_steps_reduces(m->cx->t, &x[i])) return false;
        optimizer |= torch_in_optimizer(m->cx->t, x[i].work);
    }
    return optimizer;
}

/* Whether the program runs forward between two moments, and no optimizer. */
static bool micro_steps_forward_in(const struct micro_steps *m, struct span s)
{
    const struct launched *x = sequence_of(m->cx)->items;
    uint32_t n = 0;
    for (uint32_t i = m->begin; i < m->end; i++) {
        int64_t at = m->cx->t->ts_ns[x[i].call];
        if (at <= s.begin_ns || at >= s.end_ns || micro_steps_is_back(&x[i])) continue;
        if (torch_in_optimizer(m->cx->t, x[i].work)) return false;
        n++;
    }
    return n >= (uint32_t)micro_steps_launches;
}

/* The first reduction of the next backward pass after reduction `i` of the unit; the end of the
 * unit where it is the last. */
static uint32_t micro_steps_next(const struct micro_steps *m, uint32_t i)
{
    const struct launched *x = sequence_of(m->cx)->items;
    const int64_t *ts = m->cx->t->ts_ns;
    uint32_t last = i;
    for (uint32_t k = i + 1; k < m->end; k++) {
        if (x[k].thread != x[i].thread || !micro_steps_reduces(m->cx->t, &x[k])) continue;
        if (micro_steps_forward_in(m, (struct span){ts[x[last].call], ts[x[k].call]})) return k;
        last = k;
    }
    return m->end;
}

static int micro_steps_read(struct spare_search *x, const struct micro_steps *m, uint32_t *n,
                            struct err *e)
{
    const struct launched *items = sequence_of(x->cx)->items;
    uint32_t i = m->begin;
    while (i < m->end && !micro_steps_reduces(x->cx->t, &items[i])) i++;
    for (uint32_t next; i < m->end && (next = micro_steps_next(m, i)) < m->end; i = next) {
        ++*n;
        for (uint32_t k = i; k < next; k++)
            if (micro_steps_reduces(x->cx->t, &items[k]))
                TRY(spare_drop(&x->spare, x->cx, items[k].work, e));
    }
    return 0;
}

int micro_steps_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    uint32_t n = 0;
    for (uint32_t u = 0; u < s->n_units && s->trains; u++) {
        struct micro_steps m = {x->cx, s->unit_begin[u], s->unit_begin[u + 1]};
        if (micro_steps_fit(&m)) TRY(micro_steps_read(x, &m, &n, e));
    }
    x->why = rule_text(x->cx,
                       "After %s backward passes gradients are reduced across ranks although more "
                       "is added to them before the optimizer runs (%s of GPU time).",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
