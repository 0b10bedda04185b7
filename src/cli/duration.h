/* duration.h: lengths of time as people write them: 5s, 500ms, 2m; a number alone is seconds. */
#ifndef STRATA_CLI_DURATION_H
#define STRATA_CLI_DURATION_H

#include "base/opt.h"

/* The option in milliseconds, at least 1 and at most a day; *ret stays where it is not given. */
int opt_duration(const struct opts *o, const char *name, long *ret_ms, struct err *e) MUST_USE;

#endif
