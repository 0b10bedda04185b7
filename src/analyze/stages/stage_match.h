/* stage_match.h: derived stages by name, for those who ask for one. They are not rows of the trace,
 * or are rows of another name, so that patterns for rows do not find them. */
#ifndef STRATA_ANALYZE_STAGES_STAGE_MATCH_H
#define STRATA_ANALYZE_STAGES_STAGE_MATCH_H

#include "analyze/stages/stages.h"

struct stage_matches {
    const struct stage_call **calls; /* in the order of the tree; none lies in another */
    uint32_t n;
};

/* Calls of derived stages whose name or path matches the extended regular expression; none when it
 * matches a stage that a person named: that one is meant. Memory from `mem`; a bad pattern is
 * ERR_USAGE. */
int stage_match_derived(const struct context *cx, const char *pattern, struct arena *mem,
                        struct stage_matches *ret, struct err *e) MUST_USE;

#endif
