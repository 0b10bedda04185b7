/* small_copies.h: which waits belong to a finding of small_copies.c. */
#ifndef STRATA_ANALYZE_RULES_SMALL_COPIES_H
#define STRATA_ANALYZE_RULES_SMALL_COPIES_H

#include "analyze/rules/rule.h"

/* Whether the call would not happen if its run of copies were one. */
bool small_copies_hold(const struct context *cx, const struct findings *out, row_t call);

#endif
