/* cache_warm.c: the usual duration of an op is the median over its calls on the same thread. */
#include "analyze/simulate/simulate_private.h"

#include "analyze/simulate/simulate_constants.h"
#include "base/stats.h"

/* More calls than this are not examined: the median of so many will do. */
#define MOST_CALLS 4096

int cache_warm_init(struct cache_warm *w, const struct trace *t, struct arena *mem, struct err *e)
{
    *w = (struct cache_warm){t, arena_zalloc(mem, t->strings.n, sizeof *w->usual_ns), mem};
    return w->usual_ns ? 0 : err_nomem(e);
}

bool cache_warm_is_op(const struct trace *t, row_t r)
{
    row_t p = t->parent[r];
    return t->kind[r] == KIND_OP && (p == ROW_NONE || t->kind[p] != KIND_OP);
}

static int64_t cache_warm_usual(struct cache_warm *w, row_t r)
{
    const struct trace *t = w->t;
    const struct lane *lane = &t->lanes[t->lane[r]];
    struct arena_mark mark = arena_mark(w->mem);
    int64_t *ns = arena_alloc(w->mem, MOST_CALLS * sizeof *ns);
    uint32_t n = 0;
    for (row_t i = lane->begin; ns && i < lane->end && n < MOST_CALLS; i++)
        if (t->name[i] == t->name[r] && cache_warm_is_op(t, i)) ns[n++] = t->dur_ns[i];
    int64_t median = INT64_MAX;
    if (n >= cache_warm_calls) {
        stats_sort(ns, n);
        median = stats_median(ns, n);
    }
    arena_reset_to(w->mem, mark);
    return median;
}

double cache_warm_share(struct cache_warm *w, row_t r)
{
    int64_t *known = &w->usual_ns[w->t->name[r]];
    if (*known == 0) *known = cache_warm_usual(w, r);
    int64_t dur = w->t->dur_ns[r];
    return dur > *known && dur / cache_warm_cold_times <= *known ? (double)*known / (double)dur : 1;
}
