/* consistency.h: what a finished analysis must never say, whatever the trace: exposed more than
 * idle, causes that do not add up, a gain larger than what it comes from. Figures that contradict
 * each other are our mistake, so builds with asserts check every analysis before it is freed
 * (cli/consistent.h). */
#ifndef STRATA_ANALYZE_COMPARE_CONSISTENCY_H
#define STRATA_ANALYZE_COMPARE_CONSISTENCY_H

#include "analyze/compare/diff.h"

/* Appends a line per contradiction between the results that were computed; returns how many. */
uint32_t consistency_check(const struct context *cx, struct buf *ret);

/* The same for the parts of a comparison, whose contexts are checked by themselves. */
uint32_t consistency_check_diff(const struct diff *d, struct buf *ret);

#endif
