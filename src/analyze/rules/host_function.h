/* host_function.h: which findings of host_function.c hold time that other rules would report again.
 */
#ifndef STRATA_ANALYZE_RULES_HOST_FUNCTION_H
#define STRATA_ANALYZE_RULES_HOST_FUNCTION_H

#include "analyze/rules/rule.h"

/* Whether more than half of [begin, end) of the thread is part of such a finding. */
bool host_function_holds(const struct context *cx, const struct findings *out, lane_id thread,
                         struct span s);

#endif
