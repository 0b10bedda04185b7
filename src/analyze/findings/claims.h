/* claims.h: what other rules hold already, for the rule that runs now.
 *
 * Before a rule runs, claims_gather collects what the findings of the rules it yields to hold: the
 * kernels, calls and CPU time that the edits of those findings remove. Nothing of other rules is
 * visible to it. */
#ifndef STRATA_ANALYZE_FINDINGS_CLAIMS_H
#define STRATA_ANALYZE_FINDINGS_CLAIMS_H

#include "analyze/findings/rule.h"

int claims_gather(const struct context *cx, const struct rule *rule, struct findings *out,
                  struct err *e) MUST_USE;

/* Whether a finding has a fix for this device work. */
bool claims_kernel(const struct findings *f, const struct context *cx, row_t work);

/* Whether a finding removes this call: it is one of its waits, or begins in one of its spans. */
bool claims_call(const struct findings *f, const struct context *cx, row_t call);

/* Whether findings hold more than half of the time `s` of the thread. */
bool claims_time(const struct findings *f, const struct context *cx, lane_id thread, struct span s);

/* The part of [s) that spans ordered by thread and time hold, in a thread of the model. */
int64_t claims_share_ns(const struct sim_cut *spans, uint32_t n, uint32_t thread, struct span s);

#endif
