/* unpriced.c: findings of a trace that the replay does not reproduce.
 *
 * From a replay that misses the trace by a quarter, the worth of a change is unknown. What was
 * found is still true: it is ordered by what it costs in the trace, and nothing is predicted. */
#include <stdlib.h>

#include "analyze/findings/finding.h"
#include "analyze/gaps/wall.h"
#include "base/stats.h"

static int costliest_first(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    if (x->advice != y->advice) return x->advice - y->advice;
    if (x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The severity by what it costs: what it could gain at most. */
static void unpriced_judge(const struct context *cx, struct finding *f)
{
    double pct = stats_pct((double)f->exposed_ns, (double)wall_of(cx)->wall_ns);
    f->n_edits = f->n_options = 0;
    if (f->advice) return;
    f->severity = pct >= cx->th.value[TH_HIGH_GAIN_PCT]     ? SEVERITY_HIGH
                  : pct >= cx->th.value[TH_MEDIUM_GAIN_PCT] ? SEVERITY_MEDIUM
                                                            : SEVERITY_LOW;
}

static bool is_minor(const struct context *cx, const struct finding *f)
{
    double pct = stats_pct((double)f->exposed_ns, (double)wall_of(cx)->wall_ns);
    return !f->advice && !f->notable && pct < cx->th.value[TH_REPORT_GAIN_PCT];
}

void findings_rank_unpriced(struct findings *f, const struct context *cx)
{
    uint32_t kept = 0;
    f->unpriced = true;
    f->all_fixed_ns = undistort_of(cx)->plain_ns;
    for (uint32_t i = 0; i < f->n; i++) {
        struct finding *x = f->items[i];
        unpriced_judge(cx, x);
        if (!is_minor(cx, x)) {
            f->items[kept++] = x;
            continue;
        }
        f->n_minor++;
        f->minor_blocked_ns += x->blocked_ns;
    }
    f->n = kept;
    if (kept) qsort(f->items, kept, sizeof *f->items, costliest_first);
}
