/* consistent.h: ends the program where an analysis contradicts itself
 * (analyze/compare/consistency.h): our own mistake, like a failed assert. With NDEBUG these do
 * nothing. */
#ifndef STRATA_CLI_CONSISTENT_H
#define STRATA_CLI_CONSISTENT_H

#include "analyze/compare/consistency.h"

void consistent_assert(const struct context *cx);
void consistent_assert_diff(const struct diff *d);

#endif
