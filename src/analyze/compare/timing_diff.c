/* timing_diff.c: see timing_diff.h. */
#include "analyze/compare/timing_diff.h"

#include <math.h>

#include "base/intern.h"
#include "base/map.h"

#define LEAST_CALLS   3
#define LEAST_PCT     1.0  /* smaller changes do not matter, however sure */
#define WIDE_QUANTILE 2.58 /* 99 % of a normal distribution */

/* Mean of the calls after the first: where there are enough of them the first is not used. */
static double steady_mean(const struct timing_stage *s)
{
    if (s->count < LEAST_CALLS || s->first_ns < 0) return (double)s->total_ns / (double)s->count;
    return (double)(s->total_ns - s->first_ns) / (double)(s->count - 1);
}

/* Variance of the calls after the first, from the variance of all of them. */
static double steady_variance(const struct timing_stage *s)
{
    double n = (double)s->count, all = (double)s->total_ns / n, first = (double)s->first_ns;
    double squares = s->std_ns * s->std_ns * (n - 1) - (first - all) * (first - all) * n / (n - 1);
    return squares > 0 && n > 2 ? squares / (n - 2) : 0;
}

/* Student's quantile for few degrees of freedom, close enough. */
static double quantile(double degrees)
{
    return WIDE_QUANTILE * (1 + 2.2 / (degrees > 1 ? degrees : 1));
}

static enum timing_verdict judge(const struct timing_stage *a, const struct timing_stage *b)
{
    if (a->count < LEAST_CALLS || b->count < LEAST_CALLS || a->std_ns < 0 || b->std_ns < 0)
        return TIMING_UNKNOWN;
    double na = (double)a->count - 1, nb = (double)b->count - 1;
    double va = steady_variance(a) / na, vb = steady_variance(b) / nb;
    double ma = steady_mean(a), mb = steady_mean(b);
    double spread = va + vb, least = fabs(ma) * LEAST_PCT / 100;
    if (fabs(mb - ma) < least) return TIMING_SAME;
    double degrees =
        spread > 0 ? spread * spread /
                         (va * va / (na - 1 > 1 ? na - 1 : 1) + vb * vb / (nb - 1 > 1 ? nb - 1 : 1))
                   : 1e9;
    if (fabs(mb - ma) < quantile(degrees) * sqrt(spread)) return TIMING_SAME;
    return mb < ma ? TIMING_FASTER : TIMING_SLOWER;
}

static void compare(struct timing_change *c)
{
    const struct timing_stage *a = c->before, *b = c->after;
    c->change_pct = NAN;
    c->verdict = TIMING_ONE_SIDE;
    if (!a || !b) return;
    c->verdict = TIMING_UNKNOWN;
    if (!a->count || !b->count) return;
    if (a->median_ns > 0)
        c->change_pct = 100.0 * (double)(b->median_ns - a->median_ns) / (double)a->median_ns;
    c->verdict = judge(a, b);
}

static int match(struct timing_diff *d, struct map *place)
{
    for (int side = 0; side < 2; side++) {
        const struct timing *t = side ? d->after : d->before;
        for (uint32_t i = 0; i < t->n_stages; i++) {
            const struct timing_stage *s = &t->stages[i];
            uint32_t *slot = map_at(place, intern_hash(str_c(s->path)));
            if (!slot) return ERR_NOMEM;
            if (*slot == MAP_NONE) {
                *slot = d->n++;
                d->changes[*slot] = (struct timing_change){.path = s->path, .name = s->name};
            }
            *(side ? &d->changes[*slot].after : &d->changes[*slot].before) = s;
        }
    }
    return 0;
}

int timing_diff_run(const struct timing *before, const struct timing *after, struct arena *mem,
                    struct timing_diff *ret, struct err *e)
{
    struct timing_diff d = {.before = before, .after = after};
    struct map place;
    map_init(&place);
    d.changes = arena_zalloc(mem, (size_t)before->n_stages + after->n_stages, sizeof *d.changes);
    int rc = d.changes ? match(&d, &place) : ERR_NOMEM;
    map_done(&place);
    TRY(err_grow(e, rc));
    for (uint32_t i = 0; i < d.n; i++) {
        compare(&d.changes[i]);
        d.n_faster += d.changes[i].verdict == TIMING_FASTER;
        d.n_slower += d.changes[i].verdict == TIMING_SLOWER;
    }
    *ret = d;
    return 0;
}
