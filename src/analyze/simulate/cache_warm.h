/* cache_warm.h: what code costs when something else has just run.
 *
 * A long stretch of other code (a walk over all modules, say) leaves cold caches behind: the ops
 * after it take longer than the same ops do elsewhere. Removing the stretch gives that back too. */
#ifndef STRATA_ANALYZE_SIMULATE_CACHE_WARM_H
#define STRATA_ANALYZE_SIMULATE_CACHE_WARM_H

#include "trace/trace.h"

struct cache_warm {
    const struct trace *t;
    int64_t *usual_ns; /* by str_id: usual duration of an op of this name, 0 = not looked at */
    struct arena *mem;
};

int cache_warm_init(struct cache_warm *w, const struct trace *t, struct arena *mem,
                    struct err *e) MUST_USE;

/* Share of its time that op `r` would take if it were as warm as usual: 1 when it is not slower. */
double cache_warm_share(struct cache_warm *w, row_t r);

/* Whether the row is an op that no other op contains: what the program calls. */
bool cache_warm_is_op(const struct trace *t, row_t r);

#endif
