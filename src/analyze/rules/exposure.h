/* exposure.h: what pieces of time cost the busiest device, each moment counted once: so no finding
 * claims more than there is. */
#ifndef STRATA_ANALYZE_RULES_EXPOSURE_H
#define STRATA_ANALYZE_RULES_EXPOSURE_H

#include "analyze/rules/rule.h"
#include "base/span_set.h"

/* Room for `n` spans in `mem`; the caller adds them to s->list. ERR_NOMEM otherwise. */
int exposure_begin(struct span_set *s, uint32_t n, struct arena *mem) MUST_USE;

/* How long the busiest device had nothing to do in the spans that were added. */
int64_t exposure_idle(const struct context *cx, struct span_set *s);

/* How long only copies ran on it in them: no kernel and no fill. */
int exposure_copies(const struct context *cx, struct span_set *s, int64_t *ret_ns,
                    struct err *e) MUST_USE;

#endif
